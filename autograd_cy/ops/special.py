"""Special functions that are not hot, by scipy.special."""

from autograd_cy.ops._schema import UNARY, host, op, real

# DLMF 10.29: I0' = I1, I1' = I0 - I1 / x.
op("i0(self)", namespace="special", tier="interpreted", kernel=host("scipy.special.i0(self)", "float"), aliases=("i0",), inplace=True,
   vjp={"self": "grad * special_i1(self)"}, jvp="elementwise", vmap="elementwise", samples=UNARY, dtypes="bihf",
   node="I0Backward0", reference="scipy.special.i0(self)", doc="Modified Bessel function of the first kind, of order 0.",
   example=">>> ag.special.i0(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 1.2661])")

op("i1(self)", namespace="special", tier="interpreted", kernel=host("scipy.special.i1(self)", "float"),
   vjp={"self": "grad * where(eq(self, 0), 0.5, special_i0(self) - result / where(eq(self, 0), 1, self))"}, jvp="elementwise", vmap="elementwise",
   samples=UNARY, dtypes="bihf", node="SpecialI1Backward0", reference="scipy.special.i1(self)",
   doc="Modified Bessel function of the first kind, of order 1.",
   example=">>> ag.special.i1(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.5652])")

op("i0e(self)", namespace="special", tier="interpreted", kernel=host("scipy.special.i0e(self)", "float"),
   vjp={"self": "grad * (special_i1e(self) - sgn(self) * result)"}, jvp="elementwise", vmap="elementwise", samples=UNARY, domain=real(avoid=(0.0,)),
   dtypes="bif", node="SpecialI0EBackward0", reference="scipy.special.i0e(self)", doc="``exp(-abs(x)) * i0(x)``.",
   example=">>> ag.special.i0e(ag.tensor([0.0, 1.0]))\ntensor([1.0000, 0.4658])")

op("i1e(self)", namespace="special", tier="interpreted", kernel=host("scipy.special.i1e(self)", "float"),
   vjp={"self": "grad * where(eq(self, 0), 0.5, special_i0e(self) - result * (sgn(self) + 1 / where(eq(self, 0), 1, self)))"},
   jvp="elementwise", vmap="elementwise", samples=UNARY, domain=real(avoid=(0.0,)), dtypes="bif", node="SpecialI1EBackward0",
   reference="scipy.special.i1e(self)", doc="``exp(-abs(x)) * i1(x)``.",
   example=">>> ag.special.i1e(ag.tensor([0.0, 1.0]))\ntensor([0.0000, 0.2079])")
