"""GPT-2's pattern, the first hundred of its merges, and texts of every kind for a tokeniser."""

from clearformer.tokenizers import N_BYTES

PATTERN = r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:_|[^\w\s])+|\s+(?!\S)|\s+"  # as the notebook has it
END = "<|endoftext|>"
IN_LINES = """
␣ t,␣ a,h e,i n,r e,o n,␣t he,e r,␣ s,a t,␣ w,␣ o,e n,␣ c,i t,i s,a n,o r,e s,␣ b,e d,␣ f,in g,␣ p
o u,␣a n,a l,a r,␣t o,␣ m,␣o f,␣ in,␣ d,␣ h,␣an d,i c,a s,l e,␣t h,i on,o m,l l,en t,␣ n,␣ l,s t
␣ re,v e,␣ e,r o,l y,␣b e,␣ g,␣ T,c t,␣ S,i d,o t,␣ I,u t,e t,␣ A,␣ is,␣ on,i m,a m,o w,a y,a d,s e
␣th at,␣ C,i g,␣f or,a c,␣ y,v er,u r,␣ u,l d,␣s t,␣ M,' s,␣ he,␣ it,at ion,it h,i r,c e,␣y ou,i l
␣ B,␣w h,o l,␣ P,␣w ith,␣ 1,t er,c h,␣a s
"""

NOVEL = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife.\n\nHowever little known the feelings or views of such a man may be on his first entering a neighbourhood, "
    "this truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful "
    "property of some one or other of their daughters.\n\n“My dear Mr. Bennet,” said his lady to him one day, “have "
    "you heard that Netherfield Park is let at last?”"
)
ANY_TEXTS = (
    "",
    "tea 🍵🍵 for two 👩‍👩‍👧, it's said",
    "שלום עולם, مرحبا بالعالم",
    "पुस्तकालय कहाँ है?",
    "In 1984 + 16 = 2000 they'd add 3.14159; in 2062 snake_case",
    f"the end is typed: {END} and that's that",
    "  two  spaces\r\n\tand tabs \n\n",
    "na\u00efve nai\u0308ve STRASSE Stra\u00dfe\0",
)


def read_merges(lines):
    """Pairs of ids from pairs of pieces, in which ␣ stands for the space; the notebook has the same."""
    numbers, pairs = {"␣": 32} | {chr(byte): byte for byte in range(33, 127)}, []
    for line in lines.split("\n"):
        for pieces in filter(None, line.split(",")):
            left, right = pieces.split(" ")
            pairs.append((numbers[left], numbers[right]))
            numbers[left + right] = N_BYTES - 1 + len(pairs)
    return pairs


MERGES = read_merges(IN_LINES)
