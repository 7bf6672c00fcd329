"""ReFrame tests of an installation: its own checks, and a training of a few seconds.

They run on every system and in every environment of a site's configuration, and without one on
ReFrame's generic system::

    reframe -c packaging/reframe/autograd_cy_check.py -r
    reframe -c packaging/reframe/autograd_cy_check.py -r -S modules=autograd_cy -S threads=8
"""

import reframe as rfm
import reframe.utility.sanity as sn


class AutogradCyCheck(rfm.RunOnlyRegressionTest):
    """Settings of all tests, changed by ``-S``: the interpreter, the number of threads."""

    #: The interpreter; that of the loaded modules comes first on $PATH.
    python = variable(str, value="python3")
    #: Threads of a process, and processors that the scheduler is asked for.
    threads = variable(int, value=1)

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    tags = {"autograd_cy"}
    maintainers = ["the autograd_cy developers"]

    def ends_well(self):
        return sn.assert_eq(
            self.job.exitcode, 0, "the program ended with status {0}; rfm_job.err has the reason"
        )

    @run_before("run")
    def set_threads(self):
        self.executable = self.python
        self.num_cpus_per_task = self.threads
        self.env_vars["OMP_NUM_THREADS"] = str(self.threads)


@rfm.simple_test
class AutogradCyDoctor(AutogradCyCheck):
    """Runs ``python -m autograd_cy doctor``, which fails where it finds a problem."""

    descr = "autograd_cy: the usual mistakes of installations and jobs"
    executable_opts = ["-m", "autograd_cy", "doctor"]

    @sanity_function
    def finds_no_problem(self):
        return sn.all(
            [
                self.ends_well(),
                sn.assert_not_found(r"^problem:", self.stdout),
                sn.assert_not_found(r"Traceback", self.stderr),
            ]
        )


@rfm.simple_test
class AutogradCyTraining(AutogradCyCheck):
    """Trains a small convolutional network, and reports steps per second.

    The reference has no limits: a site adds its own for its partitions, once it has seen some runs.
    """

    descr = "autograd_cy: training of a network that reads digits"
    executable_opts = ["train.py"]
    #: Share of the test images that must be recognized; it is 0.98 to 0.99.
    accuracy = variable(float, value=0.95)
    reference = {"*": {"speed": (0, None, None, "steps/s")}}

    @sanity_function
    def learns_the_digits(self):
        accuracy = sn.extractsingle(r"^test accuracy: (\S+)", self.stdout, 1, float)
        return sn.all([self.ends_well(), sn.assert_ge(accuracy, self.accuracy)])

    @performance_function("steps/s")
    def speed(self):
        return sn.extractsingle(r"^steps per second: (\S+)", self.stdout, 1, float)
