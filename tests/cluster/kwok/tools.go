//go:build tools

// kwok, built for tests by scripts/orchestrator: this file keeps its modules in go.sum.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
