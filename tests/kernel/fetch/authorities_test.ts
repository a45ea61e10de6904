/** A text of authorities for a TLS client. */
import assert from "node:assert/strict";
import { requireCertificates } from "../../../lib/kernel/fetch/authorities.ts";

Deno.test("a text without certificates is refused as authorities of a client", () => {
  for (const text of ["", "\n", "junk", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]) {
    assert.throws(() => requireCertificates(text, "ca.crt"), {
      message: "ca.crt: got a text without certificates, expected certificates in PEM",
    });
  }
});
