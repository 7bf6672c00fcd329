"""`python -m ext.build --explain`: what a build would run now, and why."""

import sys

from .explain import main

sys.exit(main())
