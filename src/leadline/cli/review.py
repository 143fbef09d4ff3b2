"""`leadline review`: what people decide about labels."""

from __future__ import annotations

import typer

from leadline.cli import review_decide, review_flags, review_items, review_pack, review_serve

app = typer.Typer(
    help="Doubts for a person to look at, decisions on labels, and blind readings of a benchmark.",
    no_args_is_help=True,
)

app.command(epilog="Example: leadline review flags my-study --out flags.jsonl --out flags.html")(
    review_flags.flags
)
app.command(
    epilog="Example: leadline review decide my-bench question-17 --outcome rejected "
    '--reason "as clause 4 says" --reader "Jane Doe"'
)(review_decide.decide)
app.command(epilog="Example: leadline review decisions my-bench --json")(review_decide.decisions)
app.command(epilog="Example: leadline review pack my-bench my-pack --per-stratum 8 --author 'Jane Doe'")(
    review_pack.pack
)
app.command(epilog="Example: leadline review score my-pack my-bench --reader 'John Roe' --json")(
    review_pack.score
)
app.command(epilog="Example: leadline review serve --pack my-pack --reader 'John Roe'")(review_serve.serve)
app.command(epilog="Example: leadline review items my-bench --out my-new-items")(review_items.items)
