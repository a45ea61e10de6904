//go:build tools

// Package h2spec pins the version of the conformance suite that the tests build.
package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"
