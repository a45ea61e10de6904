module cniread

go 1.23

// What containerd 2.1 and 2.2 read network configurations by.
require github.com/containernetworking/cni v1.3.0
