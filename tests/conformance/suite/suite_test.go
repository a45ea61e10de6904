// Package suite is the official conformance suite of Gateway API as a program. The flags are the suite's.
package suite

import (
	"encoding/json"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

// TestConformance runs the suite.
func TestConformance(t *testing.T) {
	conformance.RunConformance(t)
}

var profiles = []suite.ConformanceProfile{
	suite.GatewayHTTPConformanceProfile,
	suite.GatewayGRPCConformanceProfile,
	suite.GatewayTLSConformanceProfile,
	suite.GatewayTCPConformanceProfile,
	suite.GatewayUDPConformanceProfile,
	suite.MeshHTTPConformanceProfile,
	suite.MeshGRPCConformanceProfile,
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

// TestList writes the profiles and tests of the suite as JSON to the file that the variable CONFORMANCE_LIST names.
func TestList(t *testing.T) {
	path := os.Getenv("CONFORMANCE_LIST")
	if path == "" {
		t.Skip("the variable CONFORMANCE_LIST names no file")
	}
	var list struct {
		Profiles []listedProfile `json:"profiles"`
		Tests    []listedTest    `json:"tests"`
	}
	for _, p := range profiles {
		list.Profiles = append(list.Profiles, listedProfile{string(p.Name), sets.List(p.CoreFeatures), sets.List(p.ExtendedFeatures)})
	}
	for _, c := range tests.ConformanceTests {
		list.Tests = append(list.Tests, listedTest{c.ShortName, c.Features, c.Provisional})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
