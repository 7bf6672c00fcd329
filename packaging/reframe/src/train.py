"""Train a small convolutional network on drawn digits: the program of the ReFrame test.

The digits are drawn with NumPy, shifted and covered with noise, so that nothing but the package is
needed and nothing is downloaded. Prints the accuracy on images that the network has not seen, and
the steps per second after the first epoch, which starts threads and fills caches.
"""

import time

import numpy as np

import autograd_cy as torch

EPOCHS, BATCH, SIZE = 8, 64, 8
GLYPHS = """
.###. ..#.. .###. ####. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... #.... ....# #...# #...#
#...# ..#.. ....# ..##. .#.#. ####. ####. ...#. .###. .####
#...# ..#.. ..##. ....# ##### ....# #...# ..#.. #...# ....#
.###. .###. ##### ####. ...#. ####. .###. ..#.. .###. .###.
"""


def drawn_digits(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images of shape (count, 1, 8, 8) and the digits on them."""
    random = np.random.default_rng(seed)
    rows = [line.split() for line in GLYPHS.split("\n") if line]
    glyphs = np.array([[[c == "#" for c in row[digit]] for row in rows] for digit in range(10)])
    digits = random.integers(0, 10, count)
    images = random.normal(scale=0.25, size=(count, 1, SIZE, SIZE))
    for image, digit, (y, x) in zip(images, digits, random.integers(0, SIZE - 5, (count, 2))):
        image[0, y : y + 5, x : x + 5] += glyphs[digit]
    return images.astype("float32"), digits.astype("int64")


def main() -> None:
    """Train and print."""
    torch.manual_seed(0)
    images, digits = map(torch.from_numpy, drawn_digits(4096, seed=1))
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4, 10),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    steps = start = 0
    for epoch in range(EPOCHS):
        if epoch == 1:
            steps, start = 0, time.perf_counter()
        for batch in torch.randperm(len(digits)).split(BATCH):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images[batch]), digits[batch])
            loss.backward()
            optimizer.step()
            steps += 1
    seconds = time.perf_counter() - start

    images, digits = map(torch.from_numpy, drawn_digits(1024, seed=2))
    with torch.no_grad():
        right = (model(images).argmax(1) == digits).sum().item()
    print(f"autograd_cy {torch.__version__}, {torch.get_num_threads()} thread(s)")
    print(f"test accuracy: {right / len(digits):.4f}")
    print(f"steps per second: {steps / seconds:.1f}")


if __name__ == "__main__":
    main()
