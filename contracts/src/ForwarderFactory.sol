// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Forwarder} from "./Forwarder.sol";

/// Derives a receiving address from (treasury, salt). Payers send to it before any code exists there; later anybody may
/// call `sweep`, which deploys the forwarder if it is missing and sends its balance to that treasury.
/// There is no owner, no upgrade, no stored state and no fee.
contract ForwarderFactory {
    /// Forwarders that share a treasury and a token.
    struct Batch {
        address treasury;
        address token;
        bytes32[] salts;
    }

    /// `token` zero means the native coin.
    event Forwarded(address indexed forwarder, address indexed token, uint256 amount);
    event ForwardFailed(address indexed forwarder, address indexed token);

    error ZeroTreasury();

    address public immutable implementation;
    /// The hash of the clone's creation code: with it anyone can derive the addresses without this contract.
    bytes32 public immutable initCodeHash;

    constructor() {
        address code = address(new Forwarder());
        implementation = code;
        initCodeHash = keccak256(_initCode(code));
    }

    function forwarderOf(address treasury, bytes32 salt) external view returns (address forwarder) {
        (forwarder,) = _derive(treasury, salt, initCodeHash);
    }

    /// Forwards the whole balance of `token` from each (treasury, salt) to `treasury`. `gasPerItem` bounds every call
    /// into the token or the treasury, so that one of them cannot use up the gas of the others; an item that fails is
    /// reported by `ForwardFailed` and can be swept again. Returns what was forwarded, item by item.
    function sweep(address treasury, address token, bytes32[] calldata salts, uint256 gasPerItem)
        public
        returns (uint256[] memory amounts)
    {
        if (treasury == address(0)) revert ZeroTreasury();
        amounts = new uint256[](salts.length);
        bytes32 codeHash = initCodeHash;
        bytes memory initCode = _initCode(implementation);
        for (uint256 i = 0; i < salts.length; ++i) {
            (address forwarder, bytes32 boundSalt) = _derive(treasury, salts[i], codeHash);
            (bool known, uint256 amount) = _balance(token, forwarder, gasPerItem);
            if (known && amount == 0) continue;
            if (known && _deploy(forwarder, boundSalt, initCode) && _forward(forwarder, token, treasury, amount, gasPerItem))
            {
                amounts[i] = amount;
                emit Forwarded(forwarder, token, amount);
            } else {
                emit ForwardFailed(forwarder, token);
            }
        }
    }

    function sweepBatches(Batch[] calldata batches, uint256 gasPerItem) external returns (uint256[][] memory amounts) {
        amounts = new uint256[][](batches.length);
        for (uint256 i = 0; i < batches.length; ++i) {
            amounts[i] = sweep(batches[i].treasury, batches[i].token, batches[i].salts, gasPerItem);
        }
    }

    /// The treasury is hashed into the CREATE2 salt, so an address belongs to one treasury and to no other.
    function _derive(address treasury, bytes32 salt, bytes32 codeHash)
        private
        view
        returns (address forwarder, bytes32 boundSalt)
    {
        assembly ("memory-safe") {
            mstore(0x00, treasury)
            mstore(0x20, salt)
            boundSalt := keccak256(0x00, 0x40)
            let data := mload(0x40)
            mstore(data, or(shl(248, 0xff), shl(88, address())))
            mstore(add(data, 21), boundSalt)
            mstore(add(data, 53), codeHash)
            forwarder := and(keccak256(data, 85), 0xffffffffffffffffffffffffffffffffffffffff)
        }
    }

    function _balance(address token, address forwarder, uint256 gasPerItem)
        private
        view
        returns (bool known, uint256 amount)
    {
        if (token == address(0)) return (true, forwarder.balance);
        assembly ("memory-safe") {
            mstore(0x00, shl(224, 0x70a08231)) // balanceOf(address)
            mstore(0x04, forwarder)
            known := staticcall(gasPerItem, token, 0x00, 0x24, 0x00, 0x20)
            known := and(known, gt(returndatasize(), 31))
            amount := mload(0x00)
        }
    }

    /// The code check comes first: CREATE2 onto an existing contract would burn 63/64 of the gas left.
    function _deploy(address forwarder, bytes32 boundSalt, bytes memory initCode) private returns (bool deployed) {
        if (forwarder.code.length != 0) return true;
        assembly ("memory-safe") {
            deployed := iszero(iszero(create2(0, add(initCode, 0x20), mload(initCode), boundSalt)))
        }
    }

    function _forward(address forwarder, address token, address treasury, uint256 amount, uint256 gasPerItem)
        private
        returns (bool forwarded)
    {
        bytes4 selector = Forwarder.forward.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            mstore(data, selector)
            mstore(add(data, 4), token)
            mstore(add(data, 36), treasury)
            mstore(add(data, 68), amount)
            forwarded := call(gasPerItem, forwarder, 0, data, 100, 0, 0)
        }
    }

    /// The clone: 10 bytes of creation code and 43 of runtime. Called without data it stops at once, so that a plain send
    /// with 2300 gas works once it is deployed (ERC-1167 reverts those). It delegates everything else, and returns only
    /// success or failure. Every byte of runtime costs 200 gas per payment: ERC-1167 with such a check has 51 bytes.
    function _initCode(address code) private pure returns (bytes memory) {
        return abi.encodePacked(
            hex"3d602b80600a3d3981f3", // return the 43 bytes that follow
            hex"3615602a57", // no calldata: jump to the end
            hex"363d3d37", // copy the calldata to memory
            hex"3d3d363d73", // delegatecall with it to
            code,
            hex"5af4602a57", // succeeded: jump to the end
            hex"3d3dfd", // failed: revert (the implementation never says why, so the size is zero)
            hex"5b" // the end of the code is a stop
        );
    }
}
