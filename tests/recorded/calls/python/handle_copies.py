"""Handle copies: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch


# Handles and modes that are copied, by themselves or with the module that keeps them.
def called_mine():
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

def called_again():
    import copy
    x = torch.ones(2, requires_grad=True)
    called = []
    h = x.register_hook(lambda g: called.append(1))
    again = copy.deepcopy(h)
    again.remove()
    x.sum().backward()
    h.remove()
    x.sum().backward()
    return [called, again.id == h.id]

def again_later():
    import pickle
    net = torch.nn.Identity()
    h = net.register_forward_hook(print)
    k = h.id + 100
    h.id = k
    again = pickle.loads(pickle.dumps(h))
    later = torch.nn.Identity().register_forward_hook(print)
    return [again.id == k, later.id > k, again.remove()]

def copy_pickle():
    import copy
    import pickle
    return [[type(c).__name__ for c in (copy.copy(m), copy.deepcopy(m),
        pickle.loads(pickle.dumps(m)))] for m in (torch.no_grad(), torch.enable_grad(),
        torch.inference_mode(), torch.inference_mode(False))]

def copy_of_inference_mode():
    import copy
    return [copy_of.mode for m in (True, False)
        for copy_of in (copy.copy(torch.inference_mode(m)), copy.deepcopy(torch.inference_mode(m)))]

def again_is_grad_enabled():
    import copy
    m = torch.no_grad()
    with m:
        again = copy.deepcopy(m)
        with torch.enable_grad():
            with again:
                a = torch.is_grad_enabled()
            b = torch.is_grad_enabled()
    return [a, b, torch.is_grad_enabled()]
