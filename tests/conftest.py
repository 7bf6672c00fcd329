"""What holds for all tests."""

import gc


def pytest_collection_finish(session):
    """Take the 20,000 collected items out of the collector's sight.

    Many tests call gc.collect(), which otherwise walks over all of them: half of the suite's time.
    """
    gc.collect()
    gc.freeze()
