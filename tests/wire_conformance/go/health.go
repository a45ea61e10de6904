package main

import (
	"context"
	"sort"

	"google.golang.org/grpc"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// askHealth asks for the status of a service, lists all, and then watches it until the call ends.
func askHealth(ctx context.Context, conn *grpc.ClientConn, service string) error {
	client := health.NewHealthClient(conn)
	request := &health.HealthCheckRequest{Service: service}
	answer, err := client.Check(ctx, request)
	say(event{Event: "check", Message: answer.GetStatus().String(), Code: status.Code(err).String()})
	list, err := client.List(ctx, &health.HealthListRequest{})
	if err != nil {
		return err
	}
	names := []string{}
	for name := range list.Statuses {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		say(event{Event: "list", Code: name, Message: list.Statuses[name].Status.String()})
	}
	watch, err := client.Watch(ctx, request)
	if err != nil {
		return err
	}
	for {
		answer, err := watch.Recv()
		if err != nil {
			say(event{Event: "end", Code: status.Code(err).String(), Message: status.Convert(err).Message()})
			return nil
		}
		say(event{Event: "watch", Message: answer.Status.String()})
	}
}
