/**
 * Debian packages with programs for tests, benchmarks and the README. A test without its package is reported as
 * ignored, with the reason, and fails the run if `CI` is set. `tests/house/setup_test.ts` compares this table with the
 * started programs.
 *
 * @module
 */

/** A Debian package. */
export interface SystemPackage {
  readonly name: string;
  /** The use of the package. */
  readonly why: string;
}

/** All packages, by name. */
export const PACKAGES: readonly SystemPackage[] = [
  { name: "bash-completion", why: "completion in a real bash" },
  { name: "bind9-dnsutils", why: "dig reads the DNS server's answers" },
  { name: "chromium", why: "the pages for people in a real browser" },
  { name: "conntrack", why: "zones that the kernel tracks DNS in" },
  { name: "containerd", why: "the container runtime of clusters" },
  { name: "containernetworking-plugins", why: "the node plugin behind real network plugins" },
  { name: "curl", why: "commands of the README" },
  { name: "debootstrap", why: "the Debian of images" },
  { name: "dnsperf", why: "load on the DNS server" },
  { name: "etcd-server", why: "where the orchestrator's API server keeps its objects" },
  { name: "fish", why: "completion in a real fish" },
  { name: "gcc", why: "programs that resolve names by glibc" },
  { name: "git", why: "commits that a hook checks" },
  { name: "iproute2", why: "network namespaces" },
  { name: "iptables", why: "redirection in network namespaces" },
  { name: "libc6-dev", why: "headers for gcc" },
  { name: "musl-tools", why: "programs that resolve names by musl" },
  { name: "nftables", why: "rules of others, in words that iptables lacks" },
  { name: "openssl", why: "certificates that other programs make and check" },
  { name: "runc", why: "starts the containers of clusters" },
  { name: "socat", why: "a way into the network of clusters" },
  { name: "time", why: "what a call of the node plugin costs" },
  { name: "zsh", why: "completion in a real zsh" },
];
