import{a as y}from"./chunk-G6ODQI5Z.js";import{b as F,c as I,d as V,e as D}from"./chunk-NBVDM5BB.js";import{a as M}from"./chunk-JKK7N3FQ.js";import{a as g}from"./chunk-YDUYBIRQ.js";import{a as L}from"./chunk-6CDFCXWR.js";import"./chunk-3BPBWF6W.js";import{a as _,b as v}from"./chunk-TFDIRRNB.js";import{a as q}from"./chunk-EXHAM5ZC.js";import{a as x,b as B,c as W}from"./chunk-KS62WZP4.js";import"./chunk-DPQFCP2Q.js";import"./chunk-BT24GS36.js";import{a as O,b as H}from"./chunk-YP5WXS5A.js";import"./chunk-YUMOKRXU.js";import{e as G}from"./chunk-WPYIR3AL.js";import{g as w,h as P}from"./chunk-7XQ5WUKO.js";import{A as T,C as h,D as $,E as C,G as f,J as A,M as N,b as p,c as k,d as c,n as R}from"./chunk-NLZF6GWN.js";var Q=p(k(),1);var K=p(k(),1);var n=p(c(),1),j=({onMade:s,onClose:e})=>{let t=P("POST /webhooks",{refresh:["GET /webhooks"]}),r=R()==="production";return(0,n.jsxs)(x,{onSubmit:async i=>{let l={url:i.text("url"),events:I(i),description:i.text("description")||null};s(await t.mutateAsync({body:l}))},label:"New endpoint",children:[(0,n.jsx)(g,{label:"Endpoint URL",name:"url",type:"url",placeholder:"https://shop.example/webhooks/florin",hint:r?"A public https URL. Florin never calls private networks.":"A public https URL. If Florin runs on your own machine, http://127.0.0.1 also works.",maxLength:2048,required:!0}),(0,n.jsx)(g,{label:"Description (optional)",name:"description",maxLength:500}),(0,n.jsx)(F,{}),(0,n.jsx)("p",{className:"muted",children:"A test event is sent at once. The endpoint is added even if the test fails."}),(0,n.jsx)(B,{}),(0,n.jsxs)(v,{children:[(0,n.jsx)(W,{children:"Add and send a test event"}),(0,n.jsx)(h,{onClick:e,children:"Cancel"})]})]})},U=({isOpen:s,onClose:e})=>{let[t,r]=(0,K.useState)(null),a=()=>{r(null),e()};return(0,n.jsx)(_,{isOpen:s,onClose:a,title:t?"Your new endpoint":"Add an endpoint",isWide:!0,children:t?(0,n.jsxs)(n.Fragment,{children:[(0,n.jsx)(V,{result:t.ping,what:"The test event"}),(0,n.jsx)(M,{secret:t.secret,what:"secret",children:"Your server verifies events with this secret. You can reveal it again on the endpoint’s page. Each time is recorded in the audit log."}),(0,n.jsxs)(v,{children:[(0,n.jsx)($,{kind:"primary",to:`/webhooks/${t.endpoint.id}`,children:"Open the endpoint"}),(0,n.jsx)(h,{onClick:a,children:"Close"})]})]}):(0,n.jsx)(j,{onMade:r,onClose:a})})};var b=p(k(),1),u=p(c(),1),Y=({label:s,tabs:e})=>{let[t,r]=(0,b.useState)(e[0]?.key),a=(0,b.useId)(),i=e.find(({key:d})=>d===t)??e[0];return(0,u.jsxs)("div",{className:"tabs",children:[(0,u.jsx)("div",{role:"tablist","aria-label":s,className:"tab-list",onKeyDown:d=>{let E={ArrowRight:1,ArrowLeft:-1}[d.key];if(E===void 0)return;d.preventDefault();let X=e.findIndex(({key:Z})=>Z===i?.key),S=e[(X+E+e.length)%e.length];r(S.key),document.getElementById(`${a}-${S.key}`)?.focus()},children:e.map(d=>(0,u.jsx)("button",{type:"button",role:"tab",id:`${a}-${d.key}`,"aria-selected":d.key===i?.key,"aria-controls":`${a}-panel`,tabIndex:d.key===i?.key?0:-1,onClick:()=>r(d.key),children:d.label},d.key))}),(0,u.jsx)("div",{role:"tabpanel",id:`${a}-panel`,"aria-labelledby":`${a}-${i?.key}`,children:i?.content})]})};var z=[{language:"Node",lead:"With the package standardwebhooks.",code:`import { createServer } from 'node:http';
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
`},{language:"Python",lead:"With the package standardwebhooks; body are the bytes of the request and headers a mapping.",code:`import os

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SECRET"])


def handle(body, headers):
    try:
        event = webhook.verify(body, headers)
    except WebhookVerificationError:
        return 400
    print(event["type"], event["data"]["id"])
    return 204
`},{language:"PHP",lead:"Without any package.",code:`<?php
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
`},{language:"Go",lead:"Without any package.",code:`package main

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
`}];var m=p(c(),1),J=()=>(0,m.jsx)(f,{title:"Verify signatures",lead:"Anyone can send a request to your endpoint. Trust an event only if its signature matches the raw request body. Signatures follow Standard Webhooks.",children:(0,m.jsx)(Y,{label:"Language",tabs:z.map(({language:s,lead:e,code:t})=>({key:s,label:s,content:(0,m.jsxs)("div",{className:"stack",children:[(0,m.jsxs)("p",{className:"muted",children:[e," The secret is in the environment variable SECRET."]}),(0,m.jsx)(L,{code:t,label:`Code for ${s}`})]})}))})});var o=p(c(),1),ee=({counts:s})=>{if(!s)return(0,o.jsx)("span",{className:"muted",children:"—"});let{succeeded:e,retrying:t,waiting:r,parked:a}=s;if(e+t+r+a===0)return(0,o.jsx)("span",{className:"muted",children:"No deliveries"});let i=a>0?"bad":t>0?"care":"good",l=a>0?"Deliveries given up":t>0?"Retrying":"Healthy";return(0,o.jsxs)("span",{className:"two-lines",children:[(0,o.jsx)("span",{children:(0,o.jsx)(O,{tone:i,children:l})}),(0,o.jsxs)("span",{className:"muted",children:[y(s,"succeeded")," delivered",r>0&&`, ${y(s,"waiting")} waiting`,t>0&&`, ${y(s,"retrying")} retrying`,a>0&&`, ${y(s,"parked")} given up`]})]})},te=s=>[{head:"Endpoint",cell:({id:e,url:t,description:r})=>(0,o.jsxs)("span",{className:"two-lines",children:[(0,o.jsx)(T,{to:`/webhooks/${e}`,children:t}),r&&(0,o.jsx)("span",{className:"muted",children:r})]})},{head:"Events",cell:({events:e})=>(0,o.jsx)("span",{title:e.join(", "),children:D(e)})},{head:"Last 7 days",cell:({id:e})=>(0,o.jsx)(ee,{counts:s?.find(t=>t.id===e)})},{head:"Status",cell:({status:e,disabledReason:t})=>(0,o.jsxs)("span",{className:"two-lines",children:[(0,o.jsx)("span",{children:(0,o.jsx)(H,{status:e})}),t&&(0,o.jsx)("span",{className:"muted",children:t})]})}],oe=()=>{let s=w("GET /webhooks"),e=w("GET /home",{query:{days:1}}),[t,r]=(0,Q.useState)(!1),i=G("webhooks.manage")&&(0,o.jsx)(h,{kind:"primary",icon:"plus",onClick:()=>r(!0),children:"Add an endpoint"});return(0,o.jsxs)(C,{title:"Webhooks",lead:"Florin sends each event of a payment to your server as a signed POST request.",actions:i,children:[(0,o.jsx)(f,{children:(0,o.jsx)(N,{of:s,children:({data:l})=>l.length===0?(0,o.jsx)(A,{title:"No endpoints yet",action:i,children:"An endpoint is a URL of your server. It receives the events of all payments, or only the event types you choose."}):(0,o.jsx)(q,{caption:"Endpoints",columns:te(e.data?.webhooks.endpoints),rows:l,keyOf:({id:d})=>d})})}),(0,o.jsx)(J,{}),(0,o.jsx)(U,{isOpen:t,onClose:()=>r(!1)})]})},Be=oe;export{Be as default};
