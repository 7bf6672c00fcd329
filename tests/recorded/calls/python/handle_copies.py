"""Handle copies: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch


# Handles and modes that are copied, by themselves or with the module that keeps them.
def mine_register_forward_hook():
    import copy
    net = torch.nn.Linear(2, 2)
    called = []
    net.mine = net.register_forward_hook(lambda *a: called.append(1))
    net.other = net.register_full_backward_pre_hook(lambda *a: called.append(2))
    again = copy.deepcopy(net)
    again(torch.ones(1, 2)).sum().backward()
    a = list(called)
    again.mine.remove()
    again(torch.ones(1, 2)).sum().backward()
    b = list(called)
    net(torch.ones(1, 2)).sum().backward()
    return [a, b, called, len(again._forward_hooks), len(net._forward_hooks),
        again.mine.id == net.mine.id]
