// Command echo is the server and the client of the suite's tests of a mesh. The suite calls the client in a pod and reads
// the lines `Field=value` of the output. The name of the executable tells which of both runs: `server` or `client`.
package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func main() {
	run := map[string]func([]string) error{"server": serve, "client": call}[filepath.Base(os.Args[0])]
	if run == nil {
		run = func([]string) error { return fmt.Errorf("%s: expected the name server or client", os.Args[0]) }
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// requestMethod is the method of gRPC that the server answers. The server answers every method.
const requestMethod = "/echo.Echo/Echo"

// headerLines are the lines of headers, sorted by name.
func headerLines(field string, headers map[string][]string) string {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	sort.Strings(names)
	var text strings.Builder
	for _, name := range names {
		for _, value := range headers[name] {
			fmt.Fprintf(&text, "%s=%s:%s\n", field, http.CanonicalHeaderKey(name), value)
		}
	}
	return text.String()
}
