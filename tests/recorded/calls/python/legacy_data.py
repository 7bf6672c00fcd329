"""Legacy data: calls of the Python layer (`autograd_cy`)."""

from autograd_cy import legacy

DIFFERS = "The namespace for programs of 2017: loaders. Torch has none of it today."

def dataset_num_workers():
    seen = []
    class Counted(legacy.utils.data.Dataset):
        def __getitem__(self, i):
            seen.append(i)
            return i
        def __len__(self):
            return 20
    it = iter(legacy.utils.data.DataLoader(Counted(), num_workers=1))
    first = next(it)
    it.close()
    return [first, sorted(seen)]
