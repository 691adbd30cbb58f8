"""How fast the library is: measured beside other libraries, in one process and in turns; started by ``make bench``."""
