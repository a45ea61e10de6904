// Elector stands for election under a lease by client-go, says when it leads, and ends with its input.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
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
	var leading atomic.Bool
	stop := func() {
		if leading.Swap(false) {
			fmt.Println("stopped")
		}
	}
	// Who started it may be gone without a word. It says that it stops before the lease is given back: after that,
	// another one may be quicker to say that it leads.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
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
		// A busy API server answers within a fraction of them.
		LeaseDuration: 9 * time.Second,
		RenewDeadline: 4500 * time.Millisecond,
		RetryPeriod:   900 * time.Millisecond,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				leading.Store(true)
				fmt.Println("leads")
			},
			OnStoppedLeading: stop,
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
