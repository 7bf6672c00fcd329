"""Optimizers: calls of the loops below the operators (`ext/kernels`)."""

from tests.recorded.inputs import checksum, complex_sines, optimizer_steps, sines

# Steps of each method: parameters that begin and end within tiles, of every layout, some without gradients.
optimizer_steps("SGD", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], momentum=0)
optimizer_steps("SGD", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), momentum=0)
optimizer_steps("SGD", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], momentum=0.9)
optimizer_steps("SGD", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), momentum=0.9)
optimizer_steps("SGD", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], momentum=0.9, dampening=0.3, weight_decay=0.1)
optimizer_steps("SGD", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), momentum=0.9,
    dampening=0.3, weight_decay=0.1)
optimizer_steps("SGD", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], momentum=0.9, nesterov=True, maximize=True)
optimizer_steps("SGD", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), momentum=0.9,
    nesterov=True, maximize=True)
optimizer_steps("Adam", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], amsgrad=True, maximize=True, betas=(0.3, 0.4))
optimizer_steps("Adam", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), amsgrad=True,
    maximize=True, betas=(0.3, 0.4))
optimizer_steps("Adagrad", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], lr=0.1, lr_decay=0.1, weight_decay=0.1,
    initial_accumulator_value=0.2, eps=0.1)
optimizer_steps("Adagrad", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), lr=0.1,
    lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2, eps=0.1)
optimizer_steps("Adagrad", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], maximize=True)
optimizer_steps("Adagrad", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    maximize=True)
optimizer_steps("Adamax", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], betas=(0.6, 0.7), eps=0.1, weight_decay=0.1)
optimizer_steps("Adamax", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    betas=(0.6, 0.7), eps=0.1, weight_decay=0.1)
optimizer_steps("Adamax", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], maximize=True)
optimizer_steps("Adamax", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    maximize=True)
optimizer_steps("RMSprop", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], alpha=0.7, eps=0.1, weight_decay=0.1)
optimizer_steps("RMSprop", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), alpha=0.7,
    eps=0.1, weight_decay=0.1)
optimizer_steps("RMSprop", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], centered=True, momentum=0.5, maximize=True)
optimizer_steps("RMSprop", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    centered=True, momentum=0.5, maximize=True)
optimizer_steps("RMSprop", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], centered=True)
optimizer_steps("RMSprop", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    centered=True)
optimizer_steps("RMSprop", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], momentum=0.5)
optimizer_steps("RMSprop", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    momentum=0.5)
optimizer_steps("Rprop", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], etas=(0.4, 1.5), step_sizes=(0.001, 0.02))
optimizer_steps("Rprop", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    etas=(0.4, 1.5), step_sizes=(0.001, 0.02))
optimizer_steps("Rprop", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], maximize=True, lr=0.5, step_sizes=(1e-6, 0.6))
optimizer_steps("Rprop", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    maximize=True, lr=0.5, step_sizes=(1e-6, 0.6))
optimizer_steps("ASGD", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], lambd=0.1, alpha=0.6, t0=1, weight_decay=0.1)
optimizer_steps("ASGD", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), lambd=0.1,
    alpha=0.6, t0=1, weight_decay=0.1)
optimizer_steps("ASGD", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], t0=0, maximize=True)
optimizer_steps("ASGD", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)), t0=0,
    maximize=True)
optimizer_steps("NAdam", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], betas=(0.6, 0.7), eps=0.1, weight_decay=0.1, momentum_decay=0.1)
optimizer_steps("NAdam", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    betas=(0.6, 0.7), eps=0.1, weight_decay=0.1, momentum_decay=0.1)
optimizer_steps("NAdam", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], decoupled_weight_decay=True, weight_decay=0.2)
optimizer_steps("NAdam", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    decoupled_weight_decay=True, weight_decay=0.2)
optimizer_steps("RAdam", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], betas=(0.6, 0.7), eps=0.1, weight_decay=0.1)
optimizer_steps("RAdam", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    betas=(0.6, 0.7), eps=0.1, weight_decay=0.1)
optimizer_steps("RAdam", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], betas=(0.9, 0.9), n=9)
optimizer_steps("RAdam", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    betas=(0.9, 0.9), n=9)
optimizer_steps("RAdam", [sines(7), sines(16384), sines(3, 2).t(), sines(0), sines(16380),
    sines(8, 3)[::2], sines()], decoupled_weight_decay=True, weight_decay=0.2)
optimizer_steps("RAdam", [sines(5).float(), sines(40).float()], skip=((0, 1), (2, 0)),
    decoupled_weight_decay=True, weight_decay=0.2)
optimizer_steps("SGD", [complex_sines(5), complex_sines(2, 3).t(), sines(4)], momentum=0.9)
optimizer_steps("Adam", [complex_sines(5), complex_sines(2, 3).t(), sines(4)], amsgrad=True)
optimizer_steps("Adagrad", [complex_sines(5), complex_sines(2, 3).t(), sines(4)])
optimizer_steps("Rprop", [complex_sines(5), complex_sines(2, 3).t(), sines(4)])
optimizer_steps("RMSprop", [complex_sines(5), complex_sines(2, 3).t(), sines(4)])

# Parameters that share memory are stepped one after the other.
[optimizer_steps("SGD", (x := sines(30000), x[:20000], x[10000:], sines(5))[1:], momentum=0.9),
    checksum(x), optimizer_steps("SGD", (x := sines(6, 4), x[:4], x[2:].t(), x[:, ::2])[1:],
    momentum=0.9), x]
[optimizer_steps("SGD", (x := sines(30000), x[:20000], x[10000:], sines(5))[1:], weight_decay=0.5),
    checksum(x), optimizer_steps("SGD", (x := sines(6, 4), x[:4], x[2:].t(), x[:, ::2])[1:],
    weight_decay=0.5), x]
[optimizer_steps("Adam", (x := sines(30000), x[:20000], x[10000:], sines(5))[1:]), checksum(x),
    optimizer_steps("Adam", (x := sines(6, 4), x[:4], x[2:].t(), x[:, ::2])[1:]), x]
[optimizer_steps("SGD", (x := sines(12), x[:6], x[6:], sines(3))[1:]), x,
    optimizer_steps("SGD", (x := sines(12), x[::2], x[1::2])[1:], momentum=0.5), x,
    optimizer_steps("Adam", (x := sines(4), x, x.view(2, 2))[1:]), x]
