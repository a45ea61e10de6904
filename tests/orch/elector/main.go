// Elector stands for election under a lease by client-go, says when it leads, and ends with its input.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Arguments: kubeconfig, namespace, name of the lease, identity.
func main() {
	if len(os.Args) != 5 {
		fail(fmt.Errorf("expected KUBECONFIG NAMESPACE LEASE IDENTITY"))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	fail(err)
	client, err := kubernetes.NewForConfig(config)
	fail(err)
	ctx, cancel := context.WithCancel(context.Background())
	// Who started it may be gone without a word.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	identity := os.Args[4]
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: os.Args[2], Name: os.Args[3]},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		ReleaseOnCancel: true,
		LeaseDuration:   3 * time.Second,
		RenewDeadline:   1500 * time.Millisecond,
		RetryPeriod:     300 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leads") },
			OnStoppedLeading: func() { fmt.Println("stopped") },
			OnNewLeader:      func(holder string) { fmt.Println("holder " + holder) },
		},
	})
	fail(err)
	for ctx.Err() == nil {
		elector.Run(ctx)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
