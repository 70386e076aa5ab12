"""What the documentation site adds to MkDocs: formulas, and the changelog as a page."""

import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.structure.files import File

THIN_SPACE = '<mspace width="0.17em"/>'
CODE_OR_TAG = re.compile(r"(<pre.*?</pre>|<code.*?</code>|<math.*?</math>|<[^>]*>)", re.DOTALL)
INDEX = re.compile(r"(?<![A-Za-z_])([^\W\d_][\u0302\u0303]?)_([A-Za-z0-9]{1,2})(?![A-Za-z0-9_])")


def _formula(source, *_arguments, **_options) -> str:
    """MathML, which browsers draw themselves, of a block of LaTeX."""
    formula = convert(source, display="block").replace(">log</mi>", f">log</mi>{THIN_SPACE}")
    return f'<div class="formula">{formula}</div>'


def on_config(config):
    """Blocks of code in the language ``math`` are formulas, here as on code hosts."""
    fences = [{"name": "math", "class": "formula", "format": _formula}]
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": fences}
    return config


def on_page_content(html, **_context):
    """Set x_i as x with an index, but not in code."""
    parts = CODE_OR_TAG.split(html)  # the odd ones are code and tags
    return "".join(
        part if i % 2 else INDEX.sub(r"\1<sub>\2</sub>", part) for i, part in enumerate(parts)
    )


def on_files(files, config):
    """Add the changelog, which lies beside the folder of the documentation, as a page."""
    text = Path("CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "changelog.md", content=text))
    return files
