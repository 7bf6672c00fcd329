"""Native sources, code generator and build logic.  Never imported by the installed package."""
