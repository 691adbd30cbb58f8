"""What models of today are built of: the facts of chapters/models.yml, and the tables that chapters draw from them."""

from clearbook.today.cells import lacking
from clearbook.today.table import today

__all__ = ["lacking", "today"]
