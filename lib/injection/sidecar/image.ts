/**
 * Images and resources of injected containers.
 *
 * @module
 */
import type { AnnotationReader } from "../annotation_reader.ts";
import type { PodContainer } from "../pod.ts";
import type { InjectionSettings } from "../types.ts";
import type { InjectionValues } from "../values.ts";

/** The full name of an image. A name with a slash is complete; to other names, the values' hub and tag are added. */
export function imageOf(
  { values: { global: { hub, tag, variant } }, version }: Pick<InjectionSettings, "values" | "version">,
  image: string,
  type?: string,
): string {
  if (image.includes("/")) return image;
  const flavour = type ?? variant;
  const suffix = flavour === "" || flavour === "default" ? "" : `-${flavour}`;
  return `${hub}/${image}:${tag || version}${suffix}`;
}

/** The resources of the proxy: annotations, else the values. A single annotation replaces all four values. */
export function proxyResources(reader: AnnotationReader, values: InjectionValues): PodContainer["resources"] {
  const part = (cpu: string, memory: string) => {
    const entries = [["cpu", reader.quantity(cpu)], ["memory", reader.quantity(memory)]] as const;
    const given = entries.filter((one): one is readonly ["cpu" | "memory", string] => one[1] !== undefined);
    return given.length === 0 ? undefined : Object.fromEntries(given);
  };
  const requests = part("sidecar.mesh.io/proxyCPU", "sidecar.mesh.io/proxyMemory");
  const limits = part("sidecar.mesh.io/proxyCPULimit", "sidecar.mesh.io/proxyMemoryLimit");
  if (requests === undefined && limits === undefined) return values.global.proxy.resources;
  return { ...(requests !== undefined && { requests }), ...(limits !== undefined && { limits }) };
}

const UNITS: Readonly<Record<string, number>> = {
  ...{ "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, m: 1e-3 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 },
};

/** Bytes of a quantity of memory; undefined: the text is not a quantity. */
export function bytesOf(quantity: string | number | undefined): number | undefined {
  const [, number = "", unit = ""] = /^\+?([\d.]+(?:[eE][+-]?\d+)?)([kMGTPEm]|[KMGTPE]i)?$/.exec(String(quantity)) ??
    [];
  const bytes = Number(number) * (UNITS[unit] ?? NaN);
  return number === "" || Number.isNaN(bytes) ? undefined : bytes;
}
