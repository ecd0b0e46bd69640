import{c as L,d as V,e as D,f as I}from"./chunk-N54Q25QH.js";import{a as F}from"./chunk-2KSXEKZP.js";import{a as v}from"./chunk-ZYFPGGGG.js";import{a as q}from"./chunk-ZWLDCONH.js";import{a as x,b as k}from"./chunk-3PUVV3A3.js";import{a as G}from"./chunk-F6ZSCBNH.js";import{a as B,b as N,c as W}from"./chunk-ISRWGZYL.js";import"./chunk-L5VIECQY.js";import"./chunk-65FJYNLG.js";import{a as H,b as P}from"./chunk-4553M2QV.js";import"./chunk-QAGHS4ZN.js";import{e as M}from"./chunk-LOFCL5VL.js";import{C as u,D as $,E as R,G as y,J as A,M as _,P as g,Q as O,b as p,c as b,d as c,q as T,z as C}from"./chunk-Z4HHAIAC.js";var Q=p(b(),1);var K=p(b(),1);var n=p(c(),1),j=({onMade:s,onClose:e})=>{let o=O("POST /webhooks",{refresh:["GET /webhooks"]}),r=T()==="production";return(0,n.jsxs)(B,{onSubmit:async i=>{let l={url:i.text("url"),events:D(i),description:i.text("description")||null};s(await o.mutateAsync({body:l}))},label:"New endpoint",children:[(0,n.jsx)(v,{label:"Address",name:"url",type:"url",placeholder:"https://shop.example/webhooks/florin",hint:r?"A public https address. Florin never calls private networks.":"A public https address; with Florin on your own machine also http://127.0.0.1.",maxLength:2048,required:!0}),(0,n.jsx)(v,{label:"Description (optional)",name:"description",maxLength:500}),(0,n.jsx)(V,{}),(0,n.jsx)("p",{className:"muted",children:"A test event is sent at once. The endpoint is made whatever comes of it."}),(0,n.jsx)(N,{}),(0,n.jsxs)(k,{children:[(0,n.jsx)(W,{children:"Create and send a test"}),(0,n.jsx)(u,{onClick:e,children:"Cancel"})]})]})},Y=({isOpen:s,onClose:e})=>{let[o,r]=(0,K.useState)(null),a=()=>{r(null),e()};return(0,n.jsx)(x,{isOpen:s,onClose:a,title:o?"Your new endpoint":"Add an endpoint",isWide:!0,children:o?(0,n.jsxs)(n.Fragment,{children:[(0,n.jsx)(I,{result:o.ping,what:"The test event"}),(0,n.jsx)(F,{secret:o.secret,what:"secret",children:"Your server verifies events with this secret. You can see it again on the endpoint’s page; each look is written into the audit log."}),(0,n.jsxs)(k,{children:[(0,n.jsx)($,{kind:"primary",to:`/webhooks/${o.endpoint.id}`,children:"Go to the endpoint"}),(0,n.jsx)(u,{onClick:a,children:"Close"})]})]}):(0,n.jsx)(j,{onMade:r,onClose:a})})};var f=p(b(),1),h=p(c(),1),U=({label:s,tabs:e})=>{let[o,r]=(0,f.useState)(e[0]?.key),a=(0,f.useId)(),i=e.find(({key:d})=>d===o)??e[0];return(0,h.jsxs)("div",{className:"tabs",children:[(0,h.jsx)("div",{role:"tablist","aria-label":s,className:"tab-list",onKeyDown:d=>{let E={ArrowRight:1,ArrowLeft:-1}[d.key];if(E===void 0)return;d.preventDefault();let X=e.findIndex(({key:Z})=>Z===i?.key),S=e[(X+E+e.length)%e.length];r(S.key),document.getElementById(`${a}-${S.key}`)?.focus()},children:e.map(d=>(0,h.jsx)("button",{type:"button",role:"tab",id:`${a}-${d.key}`,"aria-selected":d.key===i?.key,"aria-controls":`${a}-panel`,tabIndex:d.key===i?.key?0:-1,onClick:()=>r(d.key),children:d.label},d.key))}),(0,h.jsx)("div",{role:"tabpanel",id:`${a}-panel`,"aria-labelledby":`${a}-${i?.key}`,children:i?.content})]})};var z=[{language:"Node",lead:"With the package standardwebhooks.",code:`import { createServer } from 'node:http';
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
`}];var m=p(c(),1),J=()=>(0,m.jsx)(y,{title:"Verify what arrives",lead:"Anybody can post to your address. Believe an event only if its signature is right, checked over the bytes as they came. Signatures follow Standard Webhooks.",children:(0,m.jsx)(U,{label:"Language",tabs:z.map(({language:s,lead:e,code:o})=>({key:s,label:s,content:(0,m.jsxs)("div",{className:"stack",children:[(0,m.jsxs)("p",{className:"muted",children:[e," The secret is in the environment variable SECRET."]}),(0,m.jsx)(q,{code:o,label:`Code for ${s}`})]})}))})});var t=p(c(),1),ee=1e3,w=s=>s>=ee?"1,000 or more":String(s),te=({counts:s})=>{if(!s)return(0,t.jsx)("span",{className:"muted",children:"—"});let{succeeded:e,failed:o,waiting:r,parked:a}=s;if(e+o+r+a===0)return(0,t.jsx)("span",{className:"muted",children:"Nothing sent"});let i=a>0?"bad":o>0?"care":"good",l=a>0?"Losing events":o>0?"Some attempts fail":"Well";return(0,t.jsxs)("span",{className:"two-lines",children:[(0,t.jsx)("span",{children:(0,t.jsx)(H,{tone:i,children:l})}),(0,t.jsxs)("span",{className:"muted",children:[w(e)," delivered",r>0&&`, ${w(r)} waiting`,a>0&&`, ${w(a)} given up`]})]})},oe=s=>[{head:"Endpoint",cell:({id:e,url:o,description:r})=>(0,t.jsxs)("span",{className:"two-lines",children:[(0,t.jsx)(C,{to:`/webhooks/${e}`,children:o}),r&&(0,t.jsx)("span",{className:"muted",children:r})]})},{head:"Events",cell:({events:e})=>(0,t.jsx)("span",{title:e.join(", "),children:L(e)})},{head:"Last 7 days",cell:({id:e})=>(0,t.jsx)(te,{counts:s?.find(o=>o.id===e)})},{head:"Status",cell:({status:e,disabledReason:o})=>(0,t.jsxs)("span",{className:"two-lines",children:[(0,t.jsx)("span",{children:(0,t.jsx)(P,{status:e})}),o&&(0,t.jsx)("span",{className:"muted",children:o})]})}];function ne(){let s=g("GET /webhooks"),e=g("GET /home",{query:{days:1}}),[o,r]=(0,Q.useState)(!1),i=M("webhooks.manage")&&(0,t.jsx)(u,{kind:"primary",icon:"plus",onClick:()=>r(!0),children:"Add an endpoint"});return(0,t.jsxs)(R,{title:"Webhooks",lead:"Florin tells your server what becomes of a payment by a signed POST for each event.",actions:i,children:[(0,t.jsx)(y,{children:(0,t.jsx)(_,{of:s,children:({data:l})=>l.length===0?(0,t.jsx)(A,{title:"No endpoints yet",action:i,children:"An endpoint is an address of your server that gets the events of all payments, or some kinds of them."}):(0,t.jsx)(G,{caption:"Endpoints",columns:oe(e.data?.webhooks.endpoints),rows:l,keyOf:({id:d})=>d})})}),(0,t.jsx)(J,{}),(0,t.jsx)(Y,{isOpen:o,onClose:()=>r(!1)})]})}export{ne as default};
