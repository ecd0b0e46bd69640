// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISweep} from "./Hostile.sol";

/// Payers and tokens for the tests of watching. None of them is ever deployed outside a test.

/// Some tokens return nothing, so nothing is expected.
interface IPaidToken {
    function transfer(address to, uint256 value) external;
}

/// Pays out of what it holds, or out of the coin that comes with the call, in whatever shape a test wants.
contract ContractPayer {
    receive() external payable {}

    function payTokens(IPaidToken token, address[] calldata to, uint256[] calldata amounts) public {
        for (uint256 i = 0; i < to.length; ++i) token.transfer(to[i], amounts[i]);
    }

    function payCoins(address[] calldata to, uint256[] calldata amounts) public payable {
        for (uint256 i = 0; i < to.length; ++i) {
            (bool sent,) = to[i].call{value: amounts[i]}("");
            require(sent, "not sent");
        }
    }

    function repeatTransfer(IPaidToken token, address to, uint256 amount, uint256 times) external {
        for (uint256 i = 0; i < times; ++i) token.transfer(to, amount);
    }

    function payTokensAndRevert(IPaidToken token, address[] calldata to, uint256[] calldata amounts) external {
        payTokens(token, to, amounts);
        revert("after the transfers");
    }

    function payCoinsAndRevert(address[] calldata to, uint256[] calldata amounts) external payable {
        payCoins(to, amounts);
        revert("after the transfers");
    }

    /// The calls that pay fail, and the transaction around them succeeds.
    function tryTokens(IPaidToken token, address[] calldata to, uint256[] calldata amounts) external {
        try this.payTokensAndRevert(token, to, amounts) {
            revert("it went through");
        } catch {}
    }

    function tryCoins(address[] calldata to, uint256[] calldata amounts) external payable {
        try this.payCoinsAndRevert{value: msg.value}(to, amounts) {
            revert("it went through");
        } catch {}
    }

    function payTokensAndSweep(
        IPaidToken token,
        address[] calldata to,
        uint256[] calldata amounts,
        ISweep factory,
        address treasury,
        bytes32[] calldata salts
    ) external {
        payTokens(token, to, amounts);
        factory.sweep(treasury, address(token), salts, 200_000);
    }

    function payCoinsAndSweep(
        address[] calldata to,
        uint256[] calldata amounts,
        ISweep factory,
        address treasury,
        bytes32[] calldata salts
    ) external payable {
        payCoins(to, amounts);
        factory.sweep(treasury, address(0), salts, 200_000);
    }
}

/// Says that tokens moved, in exactly the right form, and is no token.
contract LogForger {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function forge(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}

/// What a listed token might turn into. It is put at the listed address by its code alone, so it has no constructor.
contract OddToken {
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    /// Answers false, moves nothing and logs nothing.
    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }

    function transferRightly(address to, uint256 value) public {
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }

    /// Keeps a hundredth and does not say so.
    function transferWithFee(address to, uint256 value) external {
        balanceOf[to] += value - value / 100;
        emit Transfer(msg.sender, to, value);
    }

    /// Logs and moves nothing.
    function pretend(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }

    /// Moves and logs nothing: what a rebase does to a holder.
    function rebase(address holder, uint256 balance) external {
        balanceOf[holder] = balance;
    }

    /// Transfer logs of other forms: an ERC-721's, one with too much data, one whose recipient is no address.
    function logMisshapen(address to, uint256 value) external {
        bytes32 name = keccak256("Transfer(address,address,uint256)");
        assembly ("memory-safe") {
            mstore(0x00, value)
            mstore(0x20, value)
            log4(0x00, 0x00, name, caller(), to, value)
            log3(0x00, 0x40, name, caller(), to)
            log3(0x00, 0x20, name, caller(), or(to, shl(255, 1)))
        }
    }
}

/// Whoever sweeps it from a forwarder is told that more was there than any payment can be.
contract BoundlessToken {
    function balanceOf(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }
}
