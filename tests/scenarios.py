"""Small programs for either library: each gives a value that this one and torch agree on."""


def scenarios():
    """Return ({name: (program, expected)}, which is empty, and the decorator that fills it).

    ``@scenario(expected)`` stands above ``program(m)``, which uses the library `m`. The name of
    the program says what happens.
    """
    table = {}

    def scenario(expected):
        def add(program):
            name = program.__name__.replace("_", " ")
            assert name not in table, name
            table[name] = (program, expected)
            return program

        return add

    return table, scenario
