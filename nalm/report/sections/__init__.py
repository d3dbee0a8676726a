"""The sections of the page. ADD HERE: NAME.py with a function that makes plain values of a study, and NAME.html.

Name a new section in ``SECTIONS`` of ``nalm.report.page``, which holds their order. A section imports what the report
may import, and no other section's private names.
"""
