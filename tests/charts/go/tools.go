//go:build tools

// Helm, built for tests by scripts/orchestrator: this file keeps its modules in go.sum.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
