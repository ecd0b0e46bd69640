import{c as F,d as L,e as V,f as D}from"./chunk-3BQTXNJK.js";import{a as q}from"./chunk-OAKNSE5D.js";import{a as v}from"./chunk-O3KU4EKT.js";import{a as M}from"./chunk-5BYFWTK3.js";import{a as B,b as k}from"./chunk-HNIEAQII.js";import{a as P}from"./chunk-3V2MCYS2.js";import{a as N,b as _,c as x}from"./chunk-OQFC6TIN.js";import"./chunk-VSLQ7KXL.js";import"./chunk-YWSCZNMZ.js";import{a as O,b as H}from"./chunk-O6DMIYIT.js";import"./chunk-K2ZBNQRU.js";import{e as G}from"./chunk-JXGUCQA4.js";import{b as g,c as W}from"./chunk-SLUBNPYG.js";import{C as u,D as T,E as C,G as y,J as R,M as A,b as p,c as b,d as c,t as S,z as $}from"./chunk-4NMJIXU2.js";var J=p(b(),1);var I=p(b(),1);var n=p(c(),1),j=({onMade:a,onClose:e})=>{let o=W("POST /webhooks",{refresh:["GET /webhooks"]}),s=S()==="production";return(0,n.jsxs)(N,{onSubmit:async i=>{let l={url:i.text("url"),events:V(i),description:i.text("description")||null};a(await o.mutateAsync({body:l}))},label:"New endpoint",children:[(0,n.jsx)(v,{label:"Address",name:"url",type:"url",placeholder:"https://shop.example/webhooks/florin",hint:s?"A public https address. Florin never calls private networks.":"A public https address; with Florin on your own machine also http://127.0.0.1.",maxLength:2048,required:!0}),(0,n.jsx)(v,{label:"Description (optional)",name:"description",maxLength:500}),(0,n.jsx)(L,{}),(0,n.jsx)("p",{className:"muted",children:"A test event is sent at once. The endpoint is made whatever comes of it."}),(0,n.jsx)(_,{}),(0,n.jsxs)(k,{children:[(0,n.jsx)(x,{children:"Create and send a test"}),(0,n.jsx)(u,{onClick:e,children:"Cancel"})]})]})},K=({isOpen:a,onClose:e})=>{let[o,s]=(0,I.useState)(null),r=()=>{s(null),e()};return(0,n.jsx)(B,{isOpen:a,onClose:r,title:o?"Your new endpoint":"Add an endpoint",isWide:!0,children:o?(0,n.jsxs)(n.Fragment,{children:[(0,n.jsx)(D,{result:o.ping,what:"The test event"}),(0,n.jsx)(q,{secret:o.secret,what:"secret",children:"Your server verifies events with this secret. You can see it again on the endpoint’s page; each look is written into the audit log."}),(0,n.jsxs)(k,{children:[(0,n.jsx)(T,{kind:"primary",to:`/webhooks/${o.endpoint.id}`,children:"Go to the endpoint"}),(0,n.jsx)(u,{onClick:r,children:"Close"})]})]}):(0,n.jsx)(j,{onMade:s,onClose:r})})};var f=p(b(),1),h=p(c(),1),Y=({label:a,tabs:e})=>{let[o,s]=(0,f.useState)(e[0]?.key),r=(0,f.useId)(),i=e.find(({key:d})=>d===o)??e[0];return(0,h.jsxs)("div",{className:"tabs",children:[(0,h.jsx)("div",{role:"tablist","aria-label":a,className:"tab-list",onKeyDown:d=>{let w={ArrowRight:1,ArrowLeft:-1}[d.key];if(w===void 0)return;d.preventDefault();let X=e.findIndex(({key:Z})=>Z===i?.key),E=e[(X+w+e.length)%e.length];s(E.key),document.getElementById(`${r}-${E.key}`)?.focus()},children:e.map(d=>(0,h.jsx)("button",{type:"button",role:"tab",id:`${r}-${d.key}`,"aria-selected":d.key===i?.key,"aria-controls":`${r}-panel`,tabIndex:d.key===i?.key?0:-1,onClick:()=>s(d.key),children:d.label},d.key))}),(0,h.jsx)("div",{role:"tabpanel",id:`${r}-panel`,"aria-labelledby":`${r}-${i?.key}`,children:i?.content})]})};var U=[{language:"Node",lead:"With the package standardwebhooks.",code:`import { createServer } from 'node:http';
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
`}];var m=p(c(),1),z=()=>(0,m.jsx)(y,{title:"Verify what arrives",lead:"Anybody can post to your address. Believe an event only if its signature is right, checked over the bytes as they came. Signatures follow Standard Webhooks.",children:(0,m.jsx)(Y,{label:"Language",tabs:U.map(({language:a,lead:e,code:o})=>({key:a,label:a,content:(0,m.jsxs)("div",{className:"stack",children:[(0,m.jsxs)("p",{className:"muted",children:[e," The secret is in the environment variable SECRET."]}),(0,m.jsx)(M,{code:o,label:`Code for ${a}`})]})}))})});var t=p(c(),1),Q=7,ee=({counts:a})=>{if(!a)return(0,t.jsx)("span",{className:"muted",children:"—"});let{succeeded:e,failed:o,waiting:s,parked:r}=a;if(e+o+s+r===0)return(0,t.jsx)("span",{className:"muted",children:"Nothing sent"});let i=r>0?"bad":o>0?"care":"good",l=r>0?"Losing events":o>0?"Some attempts fail":"Well";return(0,t.jsxs)("span",{className:"two-lines",children:[(0,t.jsx)("span",{children:(0,t.jsx)(O,{tone:i,children:l})}),(0,t.jsxs)("span",{className:"muted",children:[e," delivered",s>0&&`, ${s} waiting`,r>0&&`, ${r} given up`]})]})},te=a=>[{head:"Endpoint",cell:({id:e,url:o,description:s})=>(0,t.jsxs)("span",{className:"two-lines",children:[(0,t.jsx)($,{to:`/webhooks/${e}`,children:o}),s&&(0,t.jsx)("span",{className:"muted",children:s})]})},{head:"Events",cell:({events:e})=>(0,t.jsx)("span",{title:e.join(", "),children:F(e)})},{head:`Last ${Q} days`,cell:({id:e})=>(0,t.jsx)(ee,{counts:a?.find(o=>o.id===e)})},{head:"Status",cell:({status:e,disabledReason:o})=>(0,t.jsxs)("span",{className:"two-lines",children:[(0,t.jsx)("span",{children:(0,t.jsx)(H,{status:e})}),o&&(0,t.jsx)("span",{className:"muted",children:o})]})}];function oe(){let a=g("GET /webhooks"),e=g("GET /home",{query:{days:Q}}),[o,s]=(0,J.useState)(!1),i=G("webhooks.manage")&&(0,t.jsx)(u,{kind:"primary",icon:"plus",onClick:()=>s(!0),children:"Add an endpoint"});return(0,t.jsxs)(C,{title:"Webhooks",lead:"Florin tells your server what becomes of a payment by a signed POST for each event.",actions:i,children:[(0,t.jsx)(y,{children:(0,t.jsx)(A,{of:a,children:({data:l})=>l.length===0?(0,t.jsx)(R,{title:"No endpoints yet",action:i,children:"An endpoint is an address of your server that gets the events of all payments, or some kinds of them."}):(0,t.jsx)(P,{caption:"Endpoints",columns:te(e.data?.webhooks.endpoints),rows:l,keyOf:({id:d})=>d})})}),(0,t.jsx)(z,{}),(0,t.jsx)(K,{isOpen:o,onClose:()=>s(!1)})]})}export{oe as default};
