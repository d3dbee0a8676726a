"""Formulas as MathML, which browsers draw themselves: the pages need neither a script nor the network."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(writer, node):
    """Write a formula inside a line."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(writer, node):
    """Write a formula on a line of its own."""
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer; conf.py chooses it by its name."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
