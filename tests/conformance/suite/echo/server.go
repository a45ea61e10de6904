package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// list is a flag that may be given many times.
type list []string

func (l *list) String() string { return fmt.Sprint(*l) }

func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// defaultPort is the port of a server without flags: pods that only call have such a server.
const defaultPort = "8080"

// serve listens at all ports and answers until a listener fails.
func serve(args []string) error {
	var httpPorts, grpcPorts, tcpPorts, tlsPorts list
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.Var(&httpPorts, "port", "port of HTTP/1.1 and HTTP/2")
	flags.Var(&grpcPorts, "grpc", "port of gRPC")
	flags.Var(&tcpPorts, "tcp", "port of TCP")
	flags.Var(&tlsPorts, "tls", "port, of those of the other flags, whose connections are TLS")
	crt := flags.String("crt", "", "file of the certificate; a missing file: a self-signed certificate")
	key := flags.String("key", "", "file of the private key")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if len(httpPorts)+len(grpcPorts)+len(tcpPorts) == 0 {
		httpPorts = list{defaultPort}
	}
	identity, err := certificate(*crt, *key)
	if err != nil {
		return err
	}
	ended := make(chan error)
	listen := func(ports list, protocols []string, run func(net.Listener) error) error {
		for _, port := range ports {
			listener, err := net.Listen("tcp", ":"+port)
			if err != nil {
				return err
			}
			if slices.Contains(tlsPorts, port) {
				listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{identity}, NextProtos: protocols})
			}
			go func() { ended <- run(listener) }()
		}
		return nil
	}
	err = errors.Join(
		listen(httpPorts, []string{"h2", "http/1.1"}, serveHTTP),
		listen(grpcPorts, []string{"h2"}, serveGRPC),
		listen(tcpPorts, nil, serveTCP),
	)
	if err != nil {
		return err
	}
	return <-ended
}

func serveHTTP(listener net.Listener) error {
	hostname, _ := os.Hostname()
	server := http.Server{Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "Hostname=%s\nHost=%s\nMethod=%s\nProto=%s\nURL=%s\n", hostname, r.Host, r.Method, r.Proto, r.RequestURI)
		io.WriteString(w, headerLines("RequestHeader", r.Header))
	})
	return server.Serve(listener)
}

func serveGRPC(listener net.Listener) error {
	hostname, _ := os.Hostname()
	answer := func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&wrapperspb.StringValue{}); err != nil {
			return err
		}
		headers, _ := metadata.FromIncomingContext(stream.Context())
		method, _ := grpc.MethodFromServerStream(stream)
		text := fmt.Sprintf("Hostname=%s\nProto=gRPC\nURL=%s\n", hostname, method) + headerLines("RequestHeader", headers)
		return stream.SendMsg(wrapperspb.String(text))
	}
	return grpc.NewServer(grpc.UnknownServiceHandler(answer)).Serve(listener)
}

// serveTCP sends back what it receives.
func serveTCP(listener net.Listener) error {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer connection.Close()
			io.Copy(connection, connection)
		}()
	}
}

func certificate(crt, key string) (tls.Certificate, error) {
	if crt != "" {
		loaded, err := tls.LoadX509KeyPair(crt, key)
		if !errors.Is(err, fs.ErrNotExist) {
			return loaded, err
		}
	}
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0), DNSNames: []string{"echo"}}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &made.PublicKey, made)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: made}, err
}
