// Package suite is the official conformance suite of Gateway API as a program. The flags are the suite's.
package suite

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/gateway-api/apis/v1beta1"
	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

// TestConformance runs the suite. The manifests name one image without a tag, so the image would be fetched from a
// registry before each start. The manifests get the policy that the images with a tag have.
func TestConformance(t *testing.T) {
	const path, image = "base/manifests.yaml", "image: coredns/coredns\n"
	text, err := conformance.Manifests.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(image), []byte(image+"        imagePullPolicy: IfNotPresent\n"), 1)
	options := conformance.DefaultOptions(t)
	// By default three right answers in a row are enough. Without any route, two pods give three by chance.
	options.TimeoutConfig.RequiredConsecutiveSuccesses = 10
	// The suite has no flags for addresses.
	options.UsableNetworkAddresses = address("CONFORMANCE_USABLE_ADDRESS")
	options.UnusableNetworkAddresses = address("CONFORMANCE_UNUSABLE_ADDRESS")
	options.ManifestFS = []fs.FS{fstest.MapFS{path: &fstest.MapFile{Data: text}}, &conformance.Manifests}
	conformance.RunConformanceWithOptions(t, options)
}

// address is the IP address that a variable names. Empty: the variable is not set.
func address(variable string) []v1beta1.GatewaySpecAddress {
	value, kind := os.Getenv(variable), v1beta1.IPAddressType
	if value == "" {
		return nil
	}
	return []v1beta1.GatewaySpecAddress{{Type: &kind, Value: value}}
}

var profiles = []suite.ConformanceProfile{
	suite.GatewayHTTPConformanceProfile,
	suite.GatewayGRPCConformanceProfile,
	suite.GatewayTLSConformanceProfile,
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
