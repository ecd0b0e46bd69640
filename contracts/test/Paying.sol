// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISweep} from "./Hostile.sol";

/// Payers and tokens for tests of the watcher.

/// No return value is declared, because some tokens return nothing.
interface IPaidToken {
    function transfer(address to, uint256 value) external;
}

/// Pays from its own funds, or from the coin sent with the call.
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

    /// The paying calls fail, but the transaction succeeds.
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

/// Emits well-formed Transfer logs without being a token.
contract LogForger {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function forge(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}

/// What a listed token might turn into. Its code is placed at the listed address, so it has no constructor.
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

    /// Keeps one percent, but logs the full amount.
    function transferWithFee(address to, uint256 value) external {
        balanceOf[to] += value - value / 100;
        emit Transfer(msg.sender, to, value);
    }

    /// Logs a transfer but moves nothing.
    function pretend(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }

    /// Changes a balance without a log, as a rebase does.
    function rebase(address holder, uint256 balance) external {
        balanceOf[holder] = balance;
    }

    /// Malformed Transfer logs: an ERC-721's, one with too much data, one whose recipient is not an address.
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

/// Reports a larger balance than any payment can have, and every transfer succeeds.
contract BoundlessToken {
    function balanceOf(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function transfer(address, uint256) external pure returns (bool) {
        return true;
    }
}
