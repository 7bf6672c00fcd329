"""Threads: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs

# threads
with differs("types of errors as of other functions"):
    torch.set_num_threads(0)
    torch.set_num_threads(-3)
    torch.set_num_threads(1.5)
    torch.set_num_threads("2")

def get_num_threads_set_num_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    found = torch.get_num_threads()
    torch.set_num_threads(1)
    found = found, torch.get_num_threads()
    torch.set_num_threads(before)
    return found
