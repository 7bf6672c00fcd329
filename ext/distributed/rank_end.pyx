# cython: language_level=3
"""The end of a rank that MPI may keep from ending."""

cdef extern from *:
    """
    #include <pthread.h>
    #include <signal.h>
    #include <time.h>
    #include <unistd.h>
    static struct timespec agc_left;
    static void *agc_kill(void *nothing) {
        (void)nothing;
        nanosleep(&agc_left, NULL);
        kill(getpid(), SIGKILL);
        return NULL;
    }
    static int agc_kill_later(double seconds) {
        pthread_t thread;
        sigset_t all, before;
        int error;
        agc_left.tv_sec = (time_t)seconds;
        agc_left.tv_nsec = (long)((seconds - (double)agc_left.tv_sec) * 1e9);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(&thread, NULL, agc_kill, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (!error) pthread_detach(thread);
        return error;
    }
    """
    int agc_kill_later(double seconds)

__all__ = ["kill_later"]


def kill_later(double seconds):
    """
    Kill this process after some seconds, whatever it waits for then: by a thread without Python.

    A forked process could do so, too, but MPICH's launcher sometimes misses the end of a process
    that has a child, and leaves the other ranks alone.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    bool
        False if there is no thread left for that.
    """
    return agc_kill_later(seconds) == 0
