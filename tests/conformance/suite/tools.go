//go:build tools

// The server that most tests of the suite send requests to, built by scripts/orchestrator: this file keeps its modules
// in go.sum.
package suite

import _ "sigs.k8s.io/gateway-api/conformance/echo-basic"
