"""The public page of a letter, which its QR code leads to: for whoever has the letter, without an account.

It shows nothing of the person. What is checked with the letter's file is checked in their browser
(static/notices/verify.js), and what they write when they ask for a review goes to the organization alone.
"""
