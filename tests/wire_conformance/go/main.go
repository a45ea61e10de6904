// A client on google.golang.org/grpc, for conformance tests: of the aggregated discovery service (it subscribes to one
// type, acknowledges everything, and opens its stream again when it ends), of reflection, or of the health service. It
// prints one line of JSON for each event.
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

type event struct {
	Event     string `json:"event"`
	Resources int    `json:"resources,omitempty"`
	Removed   int    `json:"removed,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message,omitempty"`
}

func say(e event) {
	line, _ := json.Marshal(e)
	fmt.Println(string(line))
}

// rawCodec passes messages through as bytes.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (rawCodec) Name() string { return "proto" }

// gzipCompressor is registered only on demand: registering is what makes this library offer it to servers.
type gzipCompressor struct{}

type closer struct{ *gzip.Writer }

func (gzipCompressor) Compress(w io.Writer) (io.WriteCloser, error) {
	return closer{gzip.NewWriter(w)}, nil
}
func (gzipCompressor) Decompress(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
func (gzipCompressor) Name() string                              { return "gzip" }

func str(b []byte, field protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func msg(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// fields calls f for every length-delimited field.
func fields(b []byte, f func(protowire.Number, []byte)) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		if kind == protowire.BytesType {
			value, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return protowire.ParseError(n)
			}
			f(number, value)
			b = b[n:]
		} else {
			n := protowire.ConsumeFieldValue(number, kind, b)
			if n < 0 {
				return protowire.ParseError(n)
			}
			b = b[n:]
		}
	}
	return nil
}

type client struct {
	delta    bool
	typeURL  string
	node     string
	versions map[string]string
}

func (c *client) request(nonce, version string, first bool) []byte {
	var b, node []byte
	node = str(node, 1, c.node)
	if c.delta {
		if first {
			b = msg(b, 1, node)
			for name, version := range c.versions {
				b = msg(b, 5, str(str(nil, 1, name), 2, version))
			}
		}
		return str(str(b, 2, c.typeURL), 6, nonce)
	}
	b = str(b, 1, version)
	if first {
		b = msg(b, 2, node)
	}
	return str(str(b, 4, c.typeURL), 5, nonce)
}

func (c *client) run(ctx context.Context, conn *grpc.ClientConn, opts []grpc.CallOption) error {
	method := "StreamAggregatedResources"
	if c.delta {
		method = "DeltaAggregatedResources"
	}
	desc := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := conn.NewStream(ctx, desc, "/envoy.service.discovery.v3.AggregatedDiscoveryService/"+method, opts...)
	if err != nil {
		return err
	}
	first := c.request("", "", true)
	if err := stream.SendMsg(&first); err != nil {
		return err
	}
	for {
		var response []byte
		if err := stream.RecvMsg(&response); err != nil {
			return err
		}
		e := event{Event: "response", Bytes: len(response)}
		var nonce, version string
		err := fields(response, func(number protowire.Number, value []byte) {
			switch number {
			case 1:
				version = string(value)
			case 2:
				e.Resources++
				if c.delta {
					var name, version string
					_ = fields(value, func(n protowire.Number, v []byte) {
						if n == 3 {
							name = string(v)
						} else if n == 1 {
							version = string(v)
						}
					})
					c.versions[name] = version
				}
			case 5:
				nonce = string(value)
			case 6:
				if c.delta {
					e.Removed++
					delete(c.versions, string(value))
				}
			}
		})
		if err != nil {
			return err
		}
		say(e)
		ack := c.request(nonce, version, false)
		// When the stream has ended meanwhile, only receiving gives the reason.
		if err := stream.SendMsg(&ack); err != nil && err != io.EOF {
			return err
		}
	}
}

func main() {
	target := flag.String("target", "", "address of the server")
	delta := flag.Bool("delta", false, "the incremental variant")
	gz := flag.Bool("gzip", false, "compress requests and offer compression")
	typeURL := flag.String("type", "", "type to subscribe to")
	health := flag.Bool("health", false, "ask for the health of -service instead")
	service := flag.String("service", "", "full name of a service; empty for the whole server")
	reflect := flag.String("reflect", "", "ask reflection of this version (v1 or v1alpha) instead")
	flag.Parse()
	opts := []grpc.CallOption{grpc.ForceCodec(rawCodec{}), grpc.MaxCallRecvMsgSize(math.MaxInt32)}
	if *gz {
		encoding.RegisterCompressor(gzipCompressor{})
		opts = append(opts, grpc.UseCompressor("gzip"))
	}
	conn, err := grpc.NewClient(*target, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second}))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The caller ends this program by closing its input.
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if *reflect != "" {
		if err := describe(ctx, conn, *reflect); err != nil {
			say(event{Event: "end", Message: err.Error()})
			os.Exit(1)
		}
		return
	}
	if *health {
		if err := askHealth(ctx, conn, *service); err != nil {
			say(event{Event: "end", Message: err.Error()})
			os.Exit(1)
		}
		return
	}
	c := &client{delta: *delta, typeURL: *typeURL, node: "go", versions: map[string]string{}}
	for ctx.Err() == nil {
		err := c.run(ctx, conn, opts)
		say(event{Event: "end", Code: status.Code(err).String(), Message: status.Convert(err).Message()})
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}
