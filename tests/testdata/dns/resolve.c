/*
 * Resolves names as the C library that it is linked with does. Each line of standard input is `family name` (0, 4 or 6);
 * each line of standard output is the addresses, sorted by the reader, or `none`, then `| canonical name`.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(void) {
  char name[512];
  int family;
  while (scanf("%d %511s", &family, name) == 2) {
    struct addrinfo hints, *found = 0, *one;
    memset(&hints, 0, sizeof hints);
    hints.ai_family = family == 4 ? AF_INET : family == 6 ? AF_INET6 : AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_CANONNAME;
    int error = getaddrinfo(name, 0, &hints, &found);
    if (error) {
      printf("none | %s\n", error == EAI_AGAIN ? "again" : "no such name");
    } else {
      const char *canonical = found->ai_canonname ? found->ai_canonname : "";
      for (one = found; one; one = one->ai_next) {
        char text[INET6_ADDRSTRLEN];
        const void *address = one->ai_family == AF_INET
          ? (void *)&((struct sockaddr_in *)one->ai_addr)->sin_addr
          : (void *)&((struct sockaddr_in6 *)one->ai_addr)->sin6_addr;
        printf("%s ", inet_ntop(one->ai_family, address, text, sizeof text));
      }
      printf("| %s\n", canonical);
      freeaddrinfo(found);
    }
    fflush(stdout);
  }
  return 0;
}
