"""Operators that stand for derivatives that there aren't: errors when they are asked for."""

from autograd_cy.ops._schema import call, composite, op

op("_not_implemented(grad_output, name: str)", kernel=composite("refusal.not_implemented"), doc="The error of a derivative that there isn't.")

op("_not_forward(tangent, name: str)", kernel=composite("refusal.not_forward"), doc="The error of a tangent that there isn't.")

op("_refuse_where(self, mask, text: str)", kernel=call("iterate.clone_plain", ("self",), anywhere=True), out=False, node="ErrorBackward0",
   vjp={"self": "_raise_where(grad, mask, text)"}, jvp={"self": "_raise_where(self_t, mask, text)"}, vmap="_refuse_where(self, mask, text)",
   doc="`self`, whose derivative is an error if an element of `mask` is set.")

op("_raise_where(self, mask, text: str)", kernel=composite("refusal.raise_where"), doc="`self`, or an error if an element of `mask` is set.")
