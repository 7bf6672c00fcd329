"""Programs in the words of early 2017, shortened: image generation and a word language model."""

import pytest

import autograd_cy.legacy as torch
from autograd_cy.legacy import nn, optim
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.backends import cudnn
from autograd_cy.legacy.utils.data import DataLoader, Dataset

cudnn.benchmark = True
NOISE, PLANES, SIZE, BATCH = 6, 4, 16, 8


class Stripes(Dataset):
    def __getitem__(self, index):
        image = torch.zeros(1, SIZE, SIZE).fill_(-1)
        image[0, index % 4 :: 4] = 1
        return image, index % 3

    def __len__(self):
        return 20


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        m.weight.data.normal_(0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(NOISE, PLANES * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(PLANES * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(PLANES * 2, PLANES, 4, 2, 1, bias=False),
            nn.BatchNorm2d(PLANES),
            nn.ReLU(True),
            nn.ConvTranspose2d(PLANES, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        gpu_ids = None
        if isinstance(input.data, torch.cuda.FloatTensor):
            gpu_ids = range(2)
        return nn.parallel.data_parallel(self.main, input, gpu_ids)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, PLANES, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(PLANES, PLANES * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(PLANES * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(PLANES * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, input):
        return self.main(input).view(-1, 1)


def test_a_generator_and_a_discriminator(tmp_path):
    torch.manual_seed(1)
    net_g, net_d = Generator(), Discriminator()
    net_g.apply(weights_init)
    net_d.apply(weights_init)
    criterion = nn.BCELoss()
    input = Variable(torch.FloatTensor(BATCH, 1, SIZE, SIZE))
    noise = Variable(torch.FloatTensor(BATCH, NOISE, 1, 1))
    label = Variable(torch.FloatTensor(BATCH))
    optimizer_d = optim.Adam(net_d.parameters(), lr=0.002, betas=(0.5, 0.999))
    optimizer_g = optim.Adam(net_g.parameters(), lr=0.0002, betas=(0.5, 0.999))
    losses = []
    for _ in range(10):
        for real, _ in DataLoader(Stripes(), batch_size=BATCH, shuffle=True, num_workers=2):
            count = real.size(0)
            net_d.zero_grad()
            input.data.resize_(real.size()).copy_(real)
            label.data.resize_(count).fill_(1)
            error_real = criterion(net_d(input), label)
            error_real.backward()
            noise.data.resize_(count, NOISE, 1, 1)
            noise.data.normal_(0, 1)
            fake = net_g(noise)
            label.data.fill_(0)
            error_fake = criterion(net_d(fake.detach()), label)
            error_fake.backward()
            losses.append((error_real + error_fake).data[0])
            optimizer_d.step()
            net_g.zero_grad()
            label.data.fill_(1)
            error_g = criterion(net_d(fake), label)
            error_g.backward()
            optimizer_g.step()
    assert count == 4 and fake.size() == (4, 1, SIZE, SIZE)
    assert losses[-1] < losses[0] * 0.7  # it tells stripes from noise
    path = str(tmp_path / "generator.pth")
    torch.save(net_g.state_dict(), path)
    other = Generator()
    other.load_state_dict(torch.load(path))
    assert other.eval()(noise).data.equal(net_g.eval()(noise).data)


TEXT = ("the cat sat on the mat and the dog sat on the log " * 20).split()
WORDS = sorted(set(TEXT))
STEPS = 10


class RNNModel(nn.Module):
    def __init__(self, kind, words, size, layers):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.encoder = nn.Embedding(words, size)
        if kind in ("LSTM", "GRU"):
            self.rnn = getattr(nn, kind)(size, size, layers, dropout=0.1)
        else:
            self.rnn = nn.RNN(size, size, layers, nonlinearity=kind, dropout=0.1)
        self.decoder = nn.Linear(size, words)
        self.decoder.weight = self.encoder.weight
        self.decoder.bias.data.fill_(0)
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.kind, self.size, self.layers = kind, size, layers

    def forward(self, input, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(input)), hidden)
        output = self.drop(output)
        steps, batch = output.size(0), output.size(1)
        decoded = self.decoder(output.view(steps * batch, output.size(2)))
        return decoded.view(steps, batch, decoded.size(1)), hidden

    def init_hidden(self, batch):
        weight = next(self.parameters()).data
        new = [Variable(weight.new(self.layers, batch, self.size).zero_()) for _ in range(2)]
        return tuple(new) if self.kind == "LSTM" else new[0]


def repackage_hidden(h):
    if type(h) is Variable:
        return Variable(h.data)
    return tuple(repackage_hidden(v) for v in h)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "tanh", "relu"])
def test_a_language_model(kind, tmp_path):
    torch.manual_seed(1)
    ids = torch.LongTensor(len(TEXT))
    for i, word in enumerate(TEXT):
        ids[i] = WORDS.index(word)
    source = ids.narrow(0, 0, len(ids) // 4 * 4).view(4, -1).t().contiguous()
    model, criterion = RNNModel(kind, len(WORDS), 12, 2), nn.CrossEntropyLoss()

    def batches(evaluation=False):
        for i in range(0, source.size(0) - 1, STEPS):
            length = min(STEPS, len(source) - 1 - i)
            data = Variable(source[i : i + length], volatile=evaluation)
            yield data, Variable(source[i + 1 : i + 1 + length].view(-1))

    def evaluate():
        model.eval()
        total, hidden = 0, model.init_hidden(4)
        for data, targets in batches(evaluation=True):
            output, hidden = model(data, hidden)
            assert output.volatile and output.creator is None
            total += len(data) * criterion(output.view(-1, len(WORDS)), targets).data
            hidden = repackage_hidden(hidden)
        return total[0] / len(source)

    before = evaluate()
    for _ in range(4):
        model.train()
        hidden = model.init_hidden(4)
        for data, targets in batches():
            hidden = repackage_hidden(hidden)
            model.zero_grad()
            output, hidden = model(data, hidden)
            criterion(output.view(-1, len(WORDS)), targets).backward()
            nn.utils.clip_grad_norm(model.parameters(), 0.25)
            for p in model.parameters():
                p.data.add_(-5, p.grad.data)
    after = evaluate()
    assert after < before - 0.1
    with open(tmp_path / "model.pt", "wb") as f:
        torch.save(model, f)
    with open(tmp_path / "model.pt", "rb") as f:
        model = torch.load(f)
    assert evaluate() == pytest.approx(after)
    hidden = model.init_hidden(1)
    input = Variable(torch.rand(1, 1).mul(len(WORDS)).long(), volatile=True)
    for _ in range(5):
        output, hidden = model(input, hidden)
        weights = output.squeeze().data.div(0.5).exp().cpu()
        drawn = torch.multinomial(weights, 1)[0]
        input.data.fill_(drawn)
        assert 0 <= drawn < len(WORDS)
