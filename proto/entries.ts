/**
 * The messages that the programs encode or decode. `scripts/gen_proto.ts` keeps these and all that they reach, so the
 * descriptor that is loaded at start stays small. A message packed in an `Any` must be named here itself.
 *
 * @module
 */
export const entryMessages: readonly string[] = [
  // the protocol
  "envoy.service.discovery.v3.DiscoveryRequest",
  "envoy.service.discovery.v3.DiscoveryResponse",
  "envoy.service.discovery.v3.DeltaDiscoveryRequest",
  "envoy.service.discovery.v3.DeltaDiscoveryResponse",
  // what reflection describes: health and reflection itself
  "grpc.health.v1.HealthCheckRequest",
  "grpc.health.v1.HealthCheckResponse",
  "grpc.health.v1.HealthListRequest",
  "grpc.health.v1.HealthListResponse",
  ...["grpc.reflection.v1", "grpc.reflection.v1alpha"].flatMap((version) => [
    `${version}.ServerReflectionRequest`,
    `${version}.ServerReflectionResponse`,
  ]),
  // certificates
  "istio.v1.auth.IstioCertificateRequest",
  "istio.v1.auth.IstioCertificateResponse",
  // resources
  "envoy.config.cluster.v3.Cluster",
  "envoy.config.endpoint.v3.ClusterLoadAssignment",
  "envoy.config.listener.v3.Listener",
  "envoy.config.route.v3.RouteConfiguration",
  "envoy.config.route.v3.VirtualHost",
  "envoy.config.core.v3.TypedExtensionConfig",
  "envoy.config.bootstrap.v3.Bootstrap",
  "envoy.extensions.transport_sockets.tls.v3.Secret",
  // transport sockets
  "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
  "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
  "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer",
  "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport",
  // listener filters
  "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector",
  "envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
  "envoy.extensions.filters.listener.original_dst.v3.OriginalDst",
  "envoy.extensions.filters.listener.original_src.v3.OriginalSrc",
  "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol",
  // network filters
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
  "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
  "envoy.extensions.filters.network.sni_cluster.v3.SniCluster",
  "envoy.extensions.filters.network.set_filter_state.v3.Config",
  "envoy.extensions.filters.network.rbac.v3.RBAC",
  "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz",
  // HTTP filters
  "envoy.extensions.filters.http.router.v3.Router",
  "envoy.extensions.filters.http.cors.v3.Cors",
  "envoy.extensions.filters.http.cors.v3.CorsPolicy",
  "envoy.extensions.filters.http.fault.v3.HTTPFault",
  "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig",
  "envoy.extensions.filters.http.grpc_web.v3.GrpcWeb",
  "envoy.extensions.filters.http.on_demand.v3.OnDemand",
  "envoy.extensions.filters.http.set_filter_state.v3.Config",
  "envoy.extensions.filters.http.stateful_session.v3.StatefulSession",
  "envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute",
  "envoy.extensions.filters.http.rbac.v3.RBAC",
  "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
  "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
  "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
  "envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute",
  // upstreams, load balancing, retries
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
  "envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig",
  "envoy.extensions.clusters.dns.v3.DnsCluster",
  "envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig",
  "envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig",
  "envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig",
  "envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig",
  "envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest",
  "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin",
  "envoy.extensions.load_balancing_policies.random.v3.Random",
  "envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash",
  "envoy.extensions.load_balancing_policies.maglev.v3.Maglev",
  "envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided",
  "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate",
  "envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
  "envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState",
  "envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState",
  "envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig",
  "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig",
  // access logs
  "envoy.extensions.access_loggers.file.v3.FileAccessLog",
  "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
  "envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery",
  // introspection
  "envoy.admin.v3.ConfigDump",
  "envoy.admin.v3.ClustersConfigDump",
  "envoy.admin.v3.ListenersConfigDump",
  "envoy.admin.v3.RoutesConfigDump",
  "envoy.admin.v3.EndpointsConfigDump",
  "envoy.admin.v3.SecretsConfigDump",
  "google.protobuf.Any",
  "google.protobuf.Struct",
  "google.rpc.Status",
];
