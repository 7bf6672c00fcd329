"""One distribution of each class that is drawn by gamma numbers, and of others, for any library."""


def families(T, dtype=None):
    """Distributions by name, made with `T`, this library or torch."""
    D, dtype = T.distributions, dtype or T.float64

    def t(*x):
        return T.tensor(x, dtype=dtype)

    a, b = t(0.5, 2.0, 3.7), t(1.5, 0.7, 2.0)
    matrix = T.tensor([[2.0, 0.3], [0.3, 1.0]], dtype=dtype)
    both = T.stack([a, b], -1)
    return {
        "gamma": D.Gamma(a, b),
        "chi2": D.Chi2(a),
        "beta": D.Beta(a, b),
        "beta of others": D.Beta(a, b + 1),
        "dirichlet": D.Dirichlet(T.stack([a, b])),
        "inverse gamma": D.InverseGamma(a + 2, b),
        "student": D.StudentT(a + 2, b, b),
        "fisher": D.FisherSnedecor(a * 2, b * 3 + 4),
        "poisson": D.Poisson(a),
        "binomial": D.Binomial(5, probs=t(0.1, 0.5, 0.9)),
        "binomial of logits": D.Binomial(5, logits=a - 1),
        "multinomial": D.Multinomial(4, probs=T.stack([a, b])),
        "multinomial of logits": D.Multinomial(3, logits=a),
        "negative binomial": D.NegativeBinomial(a, probs=t(0.1, 0.5, 0.8)),
        "negative binomial of logits": D.NegativeBinomial(a, logits=b - 1),
        "wishart": D.Wishart(t(3.5)[0], covariance_matrix=matrix),
        "wishart of precisions": D.Wishart(t(3.0)[0], precision_matrix=matrix),
        "wishart of factors": D.Wishart(t(2.5)[0], scale_tril=T.linalg.cholesky(matrix)),
        "lkj": D.LKJCholesky(3, a),
        "lkj of pairs": D.LKJCholesky(2, b[0]),
        "pareto": D.Pareto(b, a + 2),
        "weibull": D.Weibull(b, a + 1),
        "kumaraswamy": D.Kumaraswamy(a, b),
        "logistic normal": D.LogisticNormal(a, b),
        "continuous bernoulli": D.ContinuousBernoulli(t(0.2, 0.5, 0.8)),
        "continuous bernoulli of logits": D.ContinuousBernoulli(logits=a - 1),
        "relaxed bernoulli": D.RelaxedBernoulli(t(0.7), logits=a),
        "relaxed one-hot": D.RelaxedOneHotCategorical(t(0.7)[0], probs=a),
        "low rank": D.LowRankMultivariateNormal(a, 0.3 * both, b),
        "low rank of others": D.LowRankMultivariateNormal(b, 0.2 * both, a),
        "multivariate normal": D.MultivariateNormal(a, T.diag(b) + 0.1),
        "normal": D.Normal(a, b),
        "exponential": D.Exponential(b),
        "bernoulli": D.Bernoulli(t(0.2, 0.5, 0.8)),
        "uniform": D.Uniform(t(0.1, 0.05, 0.3), t(0.8, 0.9, 0.9)),
        "uniform of others": D.Uniform(t(-1.0, 0.1, 0.2), t(0.5, 2.0, 0.8)),
        "gumbel": D.Gumbel(a, b),
        "laplace": D.Laplace(a, b),
    }
