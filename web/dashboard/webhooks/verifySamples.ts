/** The same samples as in the guide. Tests check that both are equal, and run those of the guide. */
export const verifySamples = [
  {
    language: 'Node',
    lead: 'With the package standardwebhooks.',
    code: `import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.SECRET);

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = webhook.verify(Buffer.concat(chunks), request.headers);
    response.writeHead(204).end();
    console.log(event.type, event.data.id);
  } catch {
    response.writeHead(400).end();
  }
}).listen(process.env.PORT, '127.0.0.1');
`,
  },
  {
    language: 'Python',
    lead: 'With the package standardwebhooks; body are the bytes of the request and headers a mapping.',
    code: `import os

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SECRET"])


def handle(body, headers):
    try:
        event = webhook.verify(body, headers)
    except WebhookVerificationError:
        return 400
    print(event["type"], event["data"]["id"])
    return 204
`,
  },
  {
    language: 'PHP',
    lead: 'Without any package.',
    code: `<?php
$key = base64_decode(substr(getenv('SECRET'), strlen('whsec_')));
$body = file_get_contents('php://input');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$time = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));

$isGenuine = false;
foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
    $isGenuine = hash_equals($expected, $given) || $isGenuine;
}
if (!$isGenuine || abs(time() - (int) $time) > 300) {
    http_response_code(400);
    exit;
}
http_response_code(204);
$event = json_decode($body, true);
`,
  },
  {
    language: 'Go',
    lead: 'Without any package.',
    code: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(key, body []byte, headers http.Header) bool {
	id, at := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// There are several signatures while a secret is being rotated.
	for _, given := range strings.Fields(headers.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("SECRET"), "whsec_"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err != nil || !isGenuine(key, body, request.Header) {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		response.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
`,
  },
] as const;
