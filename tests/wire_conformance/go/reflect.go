package main

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// describe does what a generic client does before its first call: it lists the services, fetches the files that describe
// each with all that they import, links them, and names every method with its message types.
func describe(ctx context.Context, conn *grpc.ClientConn, version string) error {
	// The messages of the two versions are the same.
	method := fmt.Sprintf("/grpc.reflection.%s.ServerReflection/ServerReflectionInfo", version)
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		return err
	}
	ask := func(request *reflection.ServerReflectionRequest) (*reflection.ServerReflectionResponse, error) {
		if err := stream.SendMsg(request); err != nil {
			return nil, err
		}
		response := &reflection.ServerReflectionResponse{}
		return response, stream.RecvMsg(response)
	}
	list, err := ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_ListServices{ListServices: "*"},
	})
	if err != nil {
		return err
	}
	for _, service := range list.GetListServicesResponse().GetService() {
		found, err := ask(&reflection.ServerReflectionRequest{
			MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service.Name},
		})
		if err != nil {
			return err
		}
		set := &descriptorpb.FileDescriptorSet{}
		for _, bytes := range found.GetFileDescriptorResponse().GetFileDescriptorProto() {
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(bytes, file); err != nil {
				return err
			}
			set.File = append(set.File, file)
		}
		files, err := protodesc.NewFiles(set)
		if err != nil {
			return err
		}
		descriptor, err := files.FindDescriptorByName(protoreflect.FullName(service.Name))
		if err != nil {
			return err
		}
		methods := descriptor.(protoreflect.ServiceDescriptor).Methods()
		for i := 0; i < methods.Len(); i++ {
			m := methods.Get(i)
			say(event{Event: "method", Message: string(m.FullName()), Code: string(m.Input().FullName()), Resources: m.Input().Fields().Len()})
		}
	}
	missing, err := ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: "no/such.proto"},
	})
	if err != nil {
		return err
	}
	say(event{Event: "error", Message: missing.GetErrorResponse().GetErrorMessage()})
	return nil
}
