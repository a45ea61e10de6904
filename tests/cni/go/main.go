// Reads folders of network configurations with libcni, in the way of a container runtime, and says what it found.
//
//	cniread read FOLDER...            one line of JSON a folder: each file, whether it is valid, and what is in it
//	cniread add FOLDER BIN CACHE      calls the plugins of the first valid file, as for a new pod
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/containernetworking/cni/libcni"
)

type file struct {
	Name    string   `json:"name"`
	Error   string   `json:"error,omitempty"`
	Network string   `json:"network"`
	Version string   `json:"version"`
	Types   []string `json:"types"`
}

// load reads one file as containerd and CRI-O do: what is no list becomes one.
func load(path string) (*libcni.NetworkConfigList, error) {
	if strings.HasSuffix(path, ".conflist") {
		return libcni.ConfListFromFile(path)
	}
	conf, err := libcni.ConfFromFile(path)
	if err != nil {
		return nil, err
	}
	if conf.Network.Type == "" {
		return nil, fmt.Errorf("no type")
	}
	return libcni.ConfListFromConf(conf)
}

func paths(folder string) []string {
	found, err := libcni.ConfFiles(folder, []string{".conf", ".conflist", ".json"})
	if err != nil {
		panic(err)
	}
	sort.Strings(found)
	return found
}

func read(folder string) []file {
	files := []file{}
	for _, path := range paths(folder) {
		one := file{Name: path[len(folder)+1:], Types: []string{}}
		if list, err := load(path); err != nil {
			one.Error = err.Error()
		} else {
			one.Network, one.Version = list.Name, list.CNIVersion
			for _, plugin := range list.Plugins {
				one.Types = append(one.Types, plugin.Network.Type)
			}
		}
		files = append(files, one)
	}
	return files
}

func add(folder, bin, cache string) error {
	for _, path := range paths(folder) {
		list, err := load(path)
		if err != nil {
			continue
		}
		config := libcni.NewCNIConfigWithCacheDir([]string{bin}, cache, nil)
		pod := &libcni.RuntimeConf{ContainerID: "pod", NetNS: "/proc/self/ns/net", IfName: "eth0"}
		_, err = config.AddNetworkList(context.Background(), list, pod)
		return err
	}
	return fmt.Errorf("no valid configuration")
}

func main() {
	switch os.Args[1] {
	case "read":
		encoder := json.NewEncoder(os.Stdout)
		for _, folder := range os.Args[2:] {
			if err := encoder.Encode(read(folder)); err != nil {
				panic(err)
			}
		}
	case "add":
		if err := add(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
