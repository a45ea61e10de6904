// Package main is an application that speaks gRPC without a proxy: a server, or a client that calls a target with each
// line of its input. Both take their configuration from the bootstrap that GRPC_XDS_BOOTSTRAP names.
//
//	xdsapp serve NAME ADDRESS   prints "mode ADDRESS serving" or "not serving" as that changes
//	xdsapp call TARGET          a line of input: METHOD DEADLINE [KEY=VALUE ...]; a line of output: "answer TEXT" or "error CODE TEXT"
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	xdscreds "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: xdsapp serve NAME ADDRESS | xdsapp call TARGET"))
	}
	if os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3])
	} else {
		call(os.Args[2])
	}
}

func fail(err error) {
	fmt.Println("failed", err)
	os.Exit(1)
}

// serve answers each method of test.Echo with the server's name; Wait never answers.
func serve(name, address string) {
	creds, err := xdscreds.NewServerCredentials(xdscreds.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		fail(err)
	}
	server, err := xds.NewGRPCServer(grpc.Creds(creds), xds.ServingModeCallback(func(at net.Addr, args xds.ServingModeChangeArgs) {
		fmt.Println("mode", args.Mode, at, args.Err)
	}))
	if err != nil {
		fail(err)
	}
	// Rules of the mesh are in the interceptor.
	method := func(called string, answer grpc.UnaryHandler) grpc.MethodDesc {
		return grpc.MethodDesc{
			MethodName: called,
			Handler: func(_ any, ctx context.Context, decode func(any) error, rules grpc.UnaryServerInterceptor) (any, error) {
				request := new(wrapperspb.StringValue)
				if err := decode(request); err != nil {
					return nil, err
				}
				return rules(ctx, request, &grpc.UnaryServerInfo{FullMethod: "/test.Echo/" + called}, answer)
			},
		}
	}
	say := func(context.Context, any) (any, error) { return wrapperspb.String(name), nil }
	wait := func(ctx context.Context, _ any) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			method("Say", say),
			method("Secret", say),
			method("Wait", wait),
		},
	}, nil)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fail(err)
	}
	fmt.Println("listening", listener.Addr())
	if err := server.Serve(listener); err != nil {
		fail(err)
	}
}

func call(target string) {
	creds, err := xdscreds.NewClientCredentials(xdscreds.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		fail(err)
	}
	client, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds))
	if err != nil {
		fail(err)
	}
	defer client.Close()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(callOnce(client, strings.Fields(lines.Text())))
	}
}

func callOnce(client *grpc.ClientConn, words []string) string {
	deadline, err := time.ParseDuration(words[1])
	if err != nil {
		fail(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		ctx = metadata.AppendToOutgoingContext(ctx, key, value)
	}
	answer := new(wrapperspb.StringValue)
	if err := client.Invoke(ctx, "/test.Echo/"+words[0], wrapperspb.String(""), answer); err != nil {
		return fmt.Sprintf("error %s %s", status.Code(err), strings.ReplaceAll(status.Convert(err).Message(), "\n", " "))
	}
	return "answer " + answer.Value
}
