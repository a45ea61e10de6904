// Package suite is the official conformance suite of the Gateway API Inference Extension as a program. The flags are the
// suite's.
package suite

import (
	"encoding/json"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/gateway-api-inference-extension/conformance"
	"sigs.k8s.io/gateway-api-inference-extension/conformance/tests"
	"sigs.k8s.io/gateway-api/pkg/features"
)

// TestConformance runs the suite.
func TestConformance(t *testing.T) {
	conformance.RunConformance(t)
}

type listedProfile struct {
	Name     string                 `json:"name"`
	Core     []features.FeatureName `json:"core"`
	Extended []features.FeatureName `json:"extended"`
}

type listedTest struct {
	Name        string                 `json:"name"`
	Features    []features.FeatureName `json:"features"`
	Provisional bool                   `json:"provisional"`
}

// TestList writes the profile and tests of the suite as JSON to the file that the variable CONFORMANCE_LIST names.
func TestList(t *testing.T) {
	path := os.Getenv("CONFORMANCE_LIST")
	if path == "" {
		t.Skip("the variable CONFORMANCE_LIST names no file")
	}
	profile := conformance.GatewayLayerProfile
	list := struct {
		Profiles []listedProfile `json:"profiles"`
		Tests    []listedTest    `json:"tests"`
	}{
		Profiles: []listedProfile{{string(profile.Name), sets.List(profile.CoreFeatures), []features.FeatureName{}}},
	}
	for _, c := range tests.ConformanceTests {
		wanted := c.Features
		if wanted == nil {
			wanted = []features.FeatureName{}
		}
		list.Tests = append(list.Tests, listedTest{c.ShortName, wanted, c.Provisional})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
