import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from string import Template
from textwrap import dedent, fill, indent, shorten

name = "money"

LINE = Template("$who owes ${amount} (was $$${old})")
HEAD = dedent("""
    Read carefully.
      Amounts are in euros.
""").strip()


def rounded(text, *, rounding=ROUND_HALF_UP):
    with localcontext() as context:
        context.prec = 28
        try:
            return Decimal(text.replace(",", "")).quantize(Decimal("0.01"), rounding)
        except InvalidOperation:
            return None


def transform(sources):
    cases = []
    for number, line in enumerate(sources["rows"]["content"].split("\n")):
        if not (found := re.fullmatch(r"\s*(?P<who>\w+)\s*:\s*(?P<sum>[\d.,]+|\?)\s*", line)):
            continue
        amount, even = rounded(found["sum"]), rounded(found["sum"], rounding=ROUND_HALF_EVEN)
        prompt = LINE.safe_substitute(who=found["who"].title(), amount=f"{amount:,}" if amount is not None else "?", old=found["sum"])
        cases.append({"id": f"m-{number:>03d}", "prompt": HEAD + "\n" + indent(fill(prompt, 20), "> "), "even": str(even),
                      "short": shorten(prompt, 15, placeholder="..."), "sign": amount is not None and amount > 0})
    return cases
