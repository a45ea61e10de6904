/**
 * The measured rows behind `pilot-discovery size`. Written by `deno task sizing` from docs/benchmarks.md.
 *
 * @module
 */
import type { Measurements } from "./measurement.ts";

export const MEASURED: Measurements = {
  "machine": {
    "date": "2026-11-26 18:59 UTC",
    "processor": "AMD EPYC, 2 cores",
    "memory": "24 GiB",
    "system": "linux 6.18.44-fc-v669, x86_64",
    "runtime": "Deno 2.8.3, V8 14.9.207.2-rusty",
    "load average at the start": "2.08, 4.29, 3.77",
  },
  "works": {
    "400 proxies, delta, gzip: one route rule changes": {
      "CPU": "0.050 CPU s",
      "the dearest edit": "0.080 CPU s",
      "median proxy": "127 ms",
      "99 %": "141 ms",
      "last proxy": "141 ms",
      "on the wire": "475 kB",
      "sent to each proxy": "2 resources",
      "longest delay of the event loop": "9.21 ms",
    },
    "400 proxies, delta, gzip: one endpoint changes, in a file of 100 services": {
      "CPU": "0.055 CPU s",
      "the dearest edit": "0.15 CPU s",
      "median proxy": "127 ms",
      "99 %": "141 ms",
      "last proxy": "141 ms",
      "on the wire": "203 kB",
      "sent to each proxy": "1 resources",
      "of other types": "0 resources",
      "longest delay of the event loop": "10 ms",
    },
    "100 proxies, delta, gzip: all connect": {
      "CPU": "0.66 CPU s",
      "time": "0.9 s",
      "at peak": "207 MiB",
      "on the wire": "33 MB",
      "longest delay of the event loop": "37 ms",
    },
    "100 proxies, delta, gzip: one endpoint changes": {
      "CPU": "0.043 CPU s",
      "the dearest edit": "0.12 CPU s",
      "median proxy": "114 ms",
      "99 %": "116 ms",
      "last proxy": "116 ms",
      "on the wire": "51 kB",
      "sent to each proxy": "1 resources",
      "of other types": "0 resources",
      "longest delay of the event loop": "4.82 ms",
    },
    "5000 services, 40 proxies, delta, gzip: all connect": {
      "CPU": "1.75 CPU s",
      "time": "2.1 s",
      "at peak": "354 MiB",
      "on the wire": "70 MB",
      "longest delay of the event loop": "152 ms",
    },
    "5000 services, 40 proxies, delta, gzip: one route rule changes": {
      "CPU": "0.034 CPU s",
      "the dearest edit": "0.39 CPU s",
      "median proxy": "116 ms",
      "99 %": "117 ms",
      "last proxy": "117 ms",
      "on the wire": "60 kB",
      "sent to each proxy": "2 resources",
      "longest delay of the event loop": "28 ms",
      "the CPU of 1,000 services": "0.91 x",
      "the time of the last proxy at 1,000 services": "1.02 x",
    },
    "an agent beside an idle Envoy, with a certificate, over TLS": { "of its own": "22 MiB", "resident": "74 MiB" },
    "an agent relays the configuration of 1600 services to its proxy": {
      "CPU": "0.090 CPU s",
      "to the proxy": "5.1 MB",
      "of its own when it rests": "29 MiB",
    },
    "an Envoy rests with the configuration of 0 services": { "resident": "64 MiB" },
    "an Envoy rests with the configuration of 1000 services": { "resident": "245 MiB" },
    "an Envoy rests with the configuration of 5000 services": { "resident": "955 MiB" },
    "1000 services are loaded, no proxy is connected": {
      "resident": "157 MiB",
      "at peak": "157 MiB",
      "longest delay of the event loop": "46 ms",
    },
    "400 proxies, delta, gzip, mutual TLS: all connect": {
      "CPU": "1.58 CPU s",
      "time": "2.6 s",
      "at peak": "363 MiB",
      "on the wire": "131 MB",
      "longest delay of the event loop": "355 ms",
      "the CPU in plain text": "1.55 x",
    },
    "400 proxies, delta, gzip, mutual TLS: all reconnect with what they have": {
      "CPU": "1.48 CPU s",
      "time": "1.6 s",
      "sent": "0 resources",
      "on the wire, the versions that proxies name": "143 MB",
      "at peak": "575 MiB",
      "longest delay of the event loop": "283 ms",
    },
  },
};
