/**
 * DNS suffix of services that the clusters of a set share, different from every cluster's own suffix
 * (https://multicluster.sigs.k8s.io/concepts/multicluster-services-api/).
 *
 * @module
 */

/** `NAME.NAMESPACE.svc.clusterset.local` is a shared service. */
export const SHARED_DOMAIN = "clusterset.local";
