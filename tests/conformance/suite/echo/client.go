package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// patience is the longest time of a request.
const patience = 10 * time.Second

// call sends requests one after the other, and prints each answer with a blank line behind. An answer with an error's
// status is printed. A request without an answer ends the program.
func call(args []string) error {
	if len(args) == 0 {
		return errors.New("expected a URL")
	}
	var headers list
	flags := flag.NewFlagSet("client", flag.ContinueOnError)
	flags.Var(&headers, "H", "header, as NAME:VALUE")
	method := flags.String("method", http.MethodGet, "method of HTTP")
	count := flags.Int("count", 1, "number of requests")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	target, err := url.Parse(args[0])
	if err != nil {
		return err
	}
	send := sendHTTP(target, *method, headers)
	if target.Scheme == "grpc" {
		if send, err = sendGRPC(target, headers); err != nil {
			return err
		}
	}
	for range *count {
		text, err := send()
		if err != nil {
			return err
		}
		fmt.Println(text)
	}
	return nil
}

func nameAndValue(header string) (string, string) {
	name, value, _ := strings.Cut(header, ":")
	return name, strings.TrimSpace(value)
}

func sendHTTP(target *url.URL, method string, headers list) func() (string, error) {
	client := http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return func() (string, error) {
		request, err := http.NewRequest(method, target.String(), nil)
		if err != nil {
			return "", err
		}
		for _, header := range headers {
			name, value := nameAndValue(header)
			request.Header.Add(name, value)
			if strings.EqualFold(name, "Host") {
				request.Host = value
			}
		}
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("StatusCode=%d\n", response.StatusCode) + headerLines("ResponseHeader", response.Header)
		// Only the server's own lines are lines of the answer. A proxy answers with other text.
		if strings.HasPrefix(string(body), "Hostname=") {
			text += string(body)
		}
		return text, nil
	}
}

func sendGRPC(target *url.URL, headers list) (func() (string, error), error) {
	connection, err := grpc.NewClient("passthrough:///"+target.Host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	method := requestMethod
	if strings.Count(target.Path, "/") == 2 {
		method = target.Path
	}
	pairs := metadata.MD{}
	for _, header := range headers {
		pairs.Append(nameAndValue(header))
	}
	return func() (string, error) {
		limited, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var answered metadata.MD
		answer := wrapperspb.StringValue{}
		err := connection.Invoke(metadata.NewOutgoingContext(limited, pairs), method, &wrapperspb.StringValue{}, &answer, grpc.Header(&answered))
		text := fmt.Sprintf("StatusCode=%d\n", httpStatus(err)) + headerLines("ResponseHeader", answered)
		return text + answer.Value, nil
	}, nil
}

// httpStatus is the status by which the suite tells success from failure.
func httpStatus(err error) int {
	switch status.Code(err) {
	case codes.OK:
		return http.StatusOK
	case codes.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}
